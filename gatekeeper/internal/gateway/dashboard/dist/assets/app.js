var z,Pn,xr,Ne,Vt,kt,Fn,bt,jn,Gt,Jt,Tr,it=Symbol.for("pv"),Et={},xt=[],Sr=/^m(i|n|o|s|text|space)$/,Qt=Array.isArray,Yt=xt.slice,Ve=Object.assign;function ze(e){e&&e.parentNode&&e.remove()}function qn(e,t,n){var o,a,r,i={},l=arguments.length;for(r in t)r=="key"?o=t[r]:r=="ref"&&typeof e!="function"?a=t[r]:i[r]=t[r];return l>2&&(i.children=l>3?Yt.call(arguments,2):n),at(e,i,o,a,null)}function at(e,t,n,o,a){var r={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:it,__v:a||++Pn,__i:-1,__u:0};return!a&&z.vnode&&z.vnode(r),r}function Tt(e){return e.children}function yt(e,t){this.props=e,this.context=t,this.__g=0}function Me(e,t){if(t==null)return e.__&&Me(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:Me(e)}function Cr(e){var t,n=e.__v,o=n.__e,a=[],r=[],i=e.__P;i&&((t=Ve({constructor:it},n)).__v=n.__v+1,z.vnode&&z.vnode(t),Xt(i,t,n,e.__n,i.namespaceURI,32&n.__u?[o]:null,a,o||Me(n),32&n.__u,r),t.__v=n.__v,t.__.__k[t.__i]=t,zn(a,t,r),n.__=n.__e=null,t.__e!=o&&Un(t))}function Un(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),Un(e)}function Mn(e){(8&e.__g||(e.__g|=8,Ne.push(e),kt++))&&Vt==z.debounceRendering||((Vt=z.debounceRendering)||queueMicrotask)(Hn)}function Hn(){try{for(var e,t=1;Ne.length;)Ne.length>t&&Ne.sort(Fn),e=Ne.shift(),t=Ne.length,8&e.__g&&Cr(e)}finally{(kt=Ne.length)&&(Vt||queueMicrotask)(Hn)}}function Wn(e,t,n,o,a,r,i,l,u,p,c){var h,m,d,f,g,$,C=o.__k||xt,y=t.length;for(u=Rr(n,t,C,u,y),h=0;h<y;h++)(d=n.__k[h])!=null&&(m=~d.__i&&C[d.__i]||Et,d.__i=h,$=Xt(e,d,m,a,r,i,l,u,p,c),f=d.__e,(m.ref!=d.ref||8&m.__u)&&(m.ref&&Zt(m.ref,null,d,m),d.ref&&c.push(d.ref,d.__c||f,d)),g=g||f,4&d.__u?(u=Bn(d,u,e,!m.__v),m.__e&&(m.__e=null)):typeof d.type=="function"&&$!==void 0?u=$:f&&(u=f.nextSibling),d.__u&=-21);return n.__e=g,u}function Rr(e,t,n,o,a){var r,i,l,u,p,c,h,m,d,f=n.length,g=f,$=0,C=0,y=e.__k=Array(a);for(r=0;r<a;r++)(i=t[r])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=y[r]=at(null,i):Qt(i)?i=y[r]=at(Tt,{children:i}):i.constructor===it&&i.__b?i=y[r]=at(i.type,i.props,i.key,i.ref,i.__v):y[r]=i,u=r+$,i.__=e,i.__b=e.__b+1,l=null,~(p=i.__i=Dr(i,n,u,g))&&(g--,(l=n[p])&&(l.__u|=2)),l&&l.__v?(i.__u|=16,p==u-1?$--:p==u+1?$++:p!=u&&(p>u?$--:$++,C=1)):(~p||(a>f?$--:a<f&&$++),typeof i.type!="function"&&(i.__u|=4))):y[r]=null;if(C){for(c=[],h=[],r=0;r<a;r++)if((i=y[r])&&16&i.__u){for($=0,m=c.length;$<m;)c[d=$+m>>1]<i.__i?$=d+1:m=d;c[$]=i.__i,h[r]=$+1}for($=c.length;r--;)h[r]&&(h[r]==$?$--:y[r].__u|=4)}if(g)for(r=0;r<f;r++)!(l=n[r])||2&l.__u||(l.__e==o&&(o=Me(l)),en(l,l));return o}function Bn(e,t,n,o){var a,r,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(a=e.__k)for(r=0;r<a.length;r++)a[r]&&(a[r].__=e,t=Bn(a[r],t,n,!1));return t}for(t&&!t.parentNode&&(t=Me(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(i!=l&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,t):n.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function Dr(e,t,n,o){var a,r=e.key,i=e.type,l=t[n],u=l&&!(2&l.__u);if(l===null&&r==null||u&&r==l.key&&i==l.type)return n;if(o>(u?1:0)){for(a=n-1;a>=0;a--)if((l=t[a])&&!(2&l.__u)&&r==l.key&&i==l.type)return a;for(a=n+1;a<t.length;a++)if((l=t[a])&&!(2&l.__u)&&r==l.key&&i==l.type)return a}return-1}function Ln(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function vt(e,t,n,o,a){var r,i;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||Ln(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||Ln(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(i=Jt[t]||(Jt[t]=Or(t)),(e.__a||(e.__a={}))[t]=Gt,r=t!=(t=t.replace(jn,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,i,r):e.removeEventListener(t,i,r));else{if(a=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function Or(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[bt]==null)t[bt]=Gt++;else if(t[bt]<this.__a[e])return;return n(z.event?z.event(t):t)}}}function Xt(e,t,n,o,a,r,i,l,u,p){var c,h,m,d,f,g,$,C,y,L,N,k,Y,re,J,ie,w,R,U=t.type;if(t.constructor!==it)return null;128&n.__u&&(u=32&n.__u,c=n.__c.__z)&&(t.__u|=u,h=r=[],c.nodeType==8?l=wt(c,r):r.push(c),l=r[0]||l),(c=z.__b)&&c(t);e:if(typeof U=="function"){m=i.length;try{if(C=t.props,y=(c=U.prototype)&&c.render,L=(c=U.contextType)&&o[c.__c],N=c?L?L.props.value:c.__:o,(d=n.__c)?(t.__c=d,2&d.__g&&(d.__g|=1)):(y?t.__c=d=new U(C,N):(t.__c=d=new yt(C,N),d.constructor=U,d.render=Ir),L&&L.sub(d),d.state||(d.state={}),d.__n=o,d.__g|=8,d.__h=[],d.__k=[]),y&&(d.__s||(d.__s=d.state),U.getDerivedStateFromProps&&(d.__s==d.state&&(d.__s=Ve({},d.__s)),Ve(d.__s,U.getDerivedStateFromProps(C,d.__s)))),f=d.props,g=d.state,d.__v=t,n.__c){if(C!==f&&y&&!U.getDerivedStateFromProps&&d.componentWillReceiveProps&&d.componentWillReceiveProps(C,N),t.__v==n.__v&&!(8&d.__g)||!(4&d.__g)&&d.shouldComponentUpdate&&d.shouldComponentUpdate(C,d.__s,N)===!1){t.__v!=n.__v&&(d.props=C,d.state=d.__s,d.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(v){v&&(v.__=t)}),xt.push.apply(d.__h,d.__k),d.__k=[],d.__h.length&&i.push(d),l=Me(n);break e}d.componentWillUpdate&&d.componentWillUpdate(C,d.__s,N),y&&d.componentDidUpdate&&d.__h.push(function(){d.componentDidUpdate(f,g,$)})}else y&&!U.getDerivedStateFromProps&&d.componentWillMount&&d.componentWillMount(),y&&d.componentDidMount&&d.__h.push(d.componentDidMount);d.context=N,d.props=C,d.__P=e,d.__g&=-5,k=z.__r,Y=y?25:0;do d.__g&=-9,k&&k(t),c=d.render(d.props,d.state=d.__s,d.context);while(8&d.__g&&++Y<25);y&&(xt.push.apply(d.__h,d.__k),d.__k=[]),d.state=d.__s,d.getChildContext&&(o=Ve({},o,d.getChildContext())),y&&n.__c&&d.getSnapshotBeforeUpdate&&($=d.getSnapshotBeforeUpdate(f,g)),re=c&&c.type===Tt&&c.key==null?c.props.children:c,C.__P&&(c=l,a=(e=C.__P).namespaceURI,u=r=null,n.props&&n.props.__P!=e&&(n.__k.some(function(v){v&&en(v,v)}),n.__k=null),l=n.__k?Me(n,0):null),l=Wn(e,Qt(re)?re:[re],t,n,o,a,r,i,l,u,p),C.__P&&(t.__e=null,l=c),t.__u&=-161,h&&h.some(ze),d.__h.length&&i.push(d),1&d.__g&&(d.__g&=-4)}catch(v){if(i.length=m,t.__v=null,u||r)if(v&&v.then){if(t.__u|=128|u,r){for(~(w=r.indexOf(l||void 0))||(w=r.length);(R=r[w-1])&&R.nodeType==8;)w--;for(;w<r.length;w++)if(R=r[w])if(r[w]=null,J){if(R==ie)break}else{if(R.nodeType!=8)break;R.data.startsWith("$s")&&(ie=wt(J=R))}}if(!J){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;J=l}(c=wt(J=t.__c.__z||(t.__c.__z=J)))?(t.__e=J,l=c):t.__e=l,l=l&&l.nextSibling}else r&&r.some(ze);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),v&&v.then||Kn(t),z.__e(v,t,n)}}else l=t.__e=Ar(n.__e,t,n,o,a,r,i,u,p,e);return(c=z.diffed)&&c(t),l}function wt(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function Kn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Kn))}function zn(e,t,n){for(var o=0;o<n.length;)Zt(n[o++],n[o++],n[o++]);z.__c&&z.__c(t,e),e.some(function(a){try{e=a.__h,a.__h=[],e.some(function(r){r.call(a)})}catch(r){z.__e(r,a.__v)}})}function Ar(e,t,n,o,a,r,i,l,u,p){var c,h,m,d,f,g,$,C,y=n.props||Et,L=t.props,N=t.type;if(N=="svg"?a="http://www.w3.org/2000/svg":N=="math"?a="http://www.w3.org/1998/Math/MathML":a||(a="http://www.w3.org/1999/xhtml"),r){for(c=0;c<r.length;c++)if((f=r[c])&&(N?f.localName==N:f.nodeType==3)){e=f,r[c]=null;break}}if(!e){if(C=p.ownerDocument||document,!N)return C.createTextNode(L);e=C.createElementNS(a,N,L.is?L:p),l&&(z.__m&&z.__m(t,r),l=!1),r=null}if(N){if(p=N=="template"&&e.content||e,r=N=="textarea"&&L.defaultValue!=null?null:r&&Yt.call(p.childNodes),!l&&r)for(y={},c=0;c<e.attributes.length;c++)y[(f=e.attributes[c]).name]=f.value;for(c in y)f=y[c],c=="dangerouslySetInnerHTML"?m=f:c=="children"||c in L||c=="value"&&"defaultValue"in L||c=="checked"&&"defaultChecked"in L||vt(e,c,null,f,a);for(c in L)f=L[c],c=="children"?d=f:c=="dangerouslySetInnerHTML"?h=f:c=="value"?g=f:c=="checked"?$=f:l&&typeof f!="function"||y[c]===f||vt(e,c,f,y[c],a);h?(l||m&&(h.__html==m.__html||h.__html==e.innerHTML)||(e.innerHTML=h.__html),t.__k=[]):(m&&(e.textContent=""),(N=="foreignObject"||a=="http://www.w3.org/1998/Math/MathML"&&Sr.test(N))&&(a="http://www.w3.org/1999/xhtml"),Wn(p,Qt(d)?d:[d],t,n,o,a,r,i,r?r[0]:n.__k&&Me(n,0),l,u),r&&r.some(ze)),l&&N!="textarea"||(c="value",N=="progress"&&g==null?e.removeAttribute(c):g==null||g===e[c]&&(N!="progress"||g)||vt(e,c,g,y[c],a),c="checked",$!=null&&$!=e[c]&&vt(e,c,$,y[c],a))}else y===L||l&&e.data==L||(e.data=L);return e}function Zt(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(a){z.__e(a,n)}}function en(e,t,n){var o,a,r,i;if(z.unmount&&z.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||Zt(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){z.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&en(o[i],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(a=wt(o,r=[]))&&(o==e.__e&&r.some(ze),ze(a),ze(o)),n||ze(e.__e),e.__e=e.__c=e.__=null}function Ir(e,t,n){return this.constructor(e,n)}function Vn(e,t){var n,o,a,r;z.__&&z.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=at(Tt,{children:[e]}),a=[],r=[],Xt(t,t.__k,o||Et,Et,t.namespaceURI,o?null:t.firstChild?Yt.call(t.childNodes):null,a,o?o.__e:t.firstChild,n,r),zn(a,t.__k,r),t.__k.props.children=null}z={__e:function(e,t,n,o){for(var a,r,i;t=t.__;)if((a=t.__c)&&!(1&a.__g)){a.__g|=4;try{if((i=(r=a.constructor)&&r.getDerivedStateFromError)&&a.setState(r.getDerivedStateFromError(e)),a.componentDidCatch&&(a.componentDidCatch(e,o||{}),i=1),i&&8&a.__g)return void(a.__g|=2)}catch(l){e=l}}throw kt=0,e}},Pn=0,xr=function(e){return e!=null&&e.constructor===it},yt.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=Ve({},this.state)),typeof e=="function"&&(e=e(Ve({},n),this.props)),e&&(Ve(n,e),this.__v&&(t&&this.__k.push(t),Mn(this)))},yt.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Mn(this))},yt.prototype.render=Tt,Ne=[],kt=0,Fn=function(e,t){return e.__v.__b-t.__v.__b},bt=Symbol(),jn=/(PointerCapture)$|Capture$/i,Gt=0,Jt={},Tr=0;var Je,te,tn,Jn,nn=Object.is,St=0,oo=[],on=[],ee=z,Gn=ee.__b,Qn=ee.__r,Yn=ee.diffed,Xn=ee.__c,Zn=ee.unmount,eo=ee.__;function ct(e,t){ee.__h&&ee.__h(te,e,St||t),St=0;var n=te.__H||(te.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function _(e){return St=1,Nr(ro,e)}function Nr(e,t,n){var o=ct(Je++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):ro(void 0,t),function(r){var i=(o.__N||o.__)[0],l=o.t(i,r);nn(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=te,!te.__f)){te.__f=!0;var a=te.shouldComponentUpdate;te.shouldComponentUpdate=function(r,i,l){var u=this.__H;if(!u)return!0;var p=!1,c=this.props!=r;if(u.__.some(function(m){m.__N&&(p=!0,nn(m.__[0],m.__N[0])||(c=!0))}),a){var h=a.call(this,r,i,l);return p?h||c:h}return!p||c}}return o.__}function E(e,t){var n=ct(Je++,3);!ee.__s&&sn(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,te.__H.__h.push(n))}function ut(e,t){var n=ct(Je++,4);!ee.__s&&sn(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,te.__h.push(n))}function Q(e){return St=5,fe(function(){return{current:e}},[])}function fe(e,t){var n=ct(Je++,7);return sn(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function pt(){var e=ct(Je++,11);if(!e.__){for(var t=te.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function Mr(){var e;do{for(;e=on.shift();)try{lt(e)}catch(n){ee.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=oo.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(lt),t.__h.some(rn),t.__h=[]}catch(n){t.__h=[],ee.__e(n,e.__v)}}}while(on.length)}ee.__b=function(e){te=null,Gn&&Gn(e)},ee.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),eo&&eo(e,t)},ee.__r=function(e){Qn&&Qn(e),Je=0;var t=(te=e.__c).__H;t&&(tn==te?te.__h=[]:(t.__h.some(lt),t.__h.some(rn),Je=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),tn=te},ee.diffed=function(e){Yn&&Yn(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&no(oo.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),tn=te=null},ee.__c=function(e,t){t.some(function(n){try{n.__h.some(lt),n.__h=n.__h.filter(function(o){return!o.__||rn(o)})}catch(o){n.__h=[function(){throw o}]}}),Xn&&Xn(e,t)},ee.unmount=function(e){Zn&&Zn(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(a){try{if(a.__P&&a.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}a.__P=n,no(on.push(a))}else lt(a)}catch(r){t=r}}),o.__H=void 0,t&&ee.__e(t,o.__v))};var to=typeof requestAnimationFrame=="function";function Lr(e){var t,n=function(){clearTimeout(o),to&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);to&&(t=requestAnimationFrame(n))}function no(e){e!=1&&Jn==ee.requestAnimationFrame||((Jn=ee.requestAnimationFrame)||Lr)(Mr)}function lt(e){var t=te,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),te=t}function rn(e){var t=te;e.__c=e.__(),te=t}function sn(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!nn(n,e[o])})}function ro(e,t){return typeof t=="function"?t(e):t}var ao=function(e,t,n,o){var a;t[0]=0;for(var r=1;r<t.length;r++){var i=t[r++],l=t[r]?(t[0]|=i?1:2,n[t[r++]]):t[++r];i===3?o[0]=l:i===4?o[1]=Object.assign(o[1]||{},l):i===5?(o[1]=o[1]||{})[t[++r]]=l:i===6?o[1][t[++r]]+=l+"":i?(a=e.apply(l,ao(e,l,n,["",null])),o.push(a),l[0]?t[0]|=2:(t[r-2]=0,t[r]=a)):o.push(l)}return o},so=new Map;function io(e){var t=so.get(this);return t||(t=new Map,so.set(this,t)),(t=ao(this,t.get(e)||(t.set(e,t=(function(n){for(var o,a,r=1,i="",l="",u=[0],p=function(m){r===1&&(m||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,m,i):r===3&&(m||i)?(u.push(3,m,i),r=2):r===2&&i==="..."&&m?u.push(4,m,0):r===2&&i&&!m?u.push(5,0,!0,i):r>=5&&((i||!m&&r===5)&&(u.push(r,0,i,a),r=6),m&&(u.push(r,m,0,a),r=6)),i=""},c=0;c<n.length;c++){c&&(r===1&&p(),p(c));for(var h=0;h<n[c].length;h++)o=n[c][h],r===1?o==="<"?(p(),u=[u],r=3):i+=o:r===4?i==="--"&&o===">"?(r=1,i=""):i=o+i[0]:l?o===l?l="":i+=o:o==='"'||o==="'"?l=o:o===">"?(p(),r=1):r&&(o==="="?(r=5,a=i,i=""):o==="/"&&(r<5||n[c][h+1]===">")?(p(),r===3&&(u=u[0]),r=u,(u=u[0]).push(2,0,r),r=0):o===" "||o==="	"||o===`
`||o==="\r"?(p(),r=2):i+=o),r===3&&i==="!--"&&(r=4,u=u[0])}return p(),u})(e)),t),arguments,[])).length>1?t:t[0]}var s=io.bind(qn);function ue(e){let t=new Set;return{get:()=>e,set(n){if(!Object.is(n,e)){e=n;for(let o of[...t])o(e)}},subscribe(n){return t.add(n),()=>t.delete(n)}}}function G(e){let[t,n]=_(e.get());return E(()=>(n(e.get()),e.subscribe(n)),[e]),t}function Ct(e,t){let n=t;try{n=localStorage.getItem(e)??t}catch{}let o=ue(n);return o.subscribe(a=>{try{localStorage.setItem(e,a)}catch{}}),o}var Rt=()=>location.pathname+location.search,Ge=ue(Rt()),lo=0;addEventListener("popstate",()=>Ge.set(Rt()));function ge(e,{replace:t=!1}={}){e!==Rt()&&(t?history.replaceState(history.state,"",e):(lo++,history.pushState({depth:lo},"",e)),Ge.set(Rt()))}function co(){history.state?.depth>0?history.back():ge("/")}document.addEventListener("click",e=>{if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return;let t=e.target.closest?.("a[href]");!t||t.target||t.hasAttribute("download")||t.origin!==location.origin||t.pathname.startsWith("/v1/")||(e.preventDefault(),t.hash&&t.pathname===location.pathname?document.getElementById(t.hash.slice(1))?.focus():ge(t.pathname+t.search))});function q(){let e=G(Ge);return[fe(()=>new URLSearchParams(e.split("?")[1]??""),[e]),(o,{replace:a=!0}={})=>{let r=new URLSearchParams(location.search);for(let[l,u]of Object.entries(o)){r.delete(l);for(let p of[u].flat())p&&r.append(l,p)}let i=r.toString();ge(location.pathname+(i?`?${i}`:""),{replace:a})}]}function ne(e){E(()=>{document.title=e?`${e} · Gatekeeper`:"Gatekeeper"},[e])}function uo(e,t){for(let[n,o]of t){let a=n.exec(e);if(a)try{return[o,a.slice(1).map(decodeURIComponent)]}catch{return null}}return null}function we(e,t,n=200){let[o,a]=_(e);return E(()=>a(e),[e]),E(()=>{if(o===e)return;let r=setTimeout(()=>t(o),n);return()=>clearTimeout(r)},[o]),[o,a]}var Oe=ue({online:!0}),Le=ue(0),dt=null;function Dt(){Oe.get().online||(clearTimeout(dt),dt=null,Oe.set({online:!0}),Le.set(Le.get()+1))}function mt(e){let t=Oe.get();Oe.set({online:!1,since:t.since??Date.now(),message:e}),dt===null&&(dt=setTimeout(po,1e3))}async function po(){try{let e=await fetch("/v1/definitions?page_size=1",{signal:AbortSignal.timeout(1e4)});if(e.status<500)return Dt();let t=await e.json().catch(()=>null);t?.message&&Oe.set({...Oe.get(),message:t.message})}catch{}Oe.get().online||(dt=setTimeout(po,1e3))}var Pe=class extends Error{constructor(t,n){super(n?.message||(t?`The server answered with status ${t}.`:"The server does not answer.")),this.name="APIError",this.status=t,this.code=n?.code??(t?"":"UNAVAILABLE"),this.reason=n?.reason??"",this.metadata=n?.metadata??{},this.fields=n?.fields??[],this.offline=t===0||t===502||t===503||t===504}};function oe(e,...t){return String.raw({raw:e},...t.map(n=>encodeURIComponent(n)))}function Ot(e={}){let t=new URLSearchParams;for(let[o,a]of Object.entries(e))for(let r of Array.isArray(a)?a:[a])r!=null&&r!==""&&r!==!1&&r!==0&&t.append(o,r);let n=t.toString();return n?`?${n}`:""}var an=0n,mo=0,nt=()=>Date.now()+mo;function At(){let e=crypto.getRandomValues(new Uint8Array(16));return{request_id:`dashboard-${Array.from(e,n=>n.toString(16).padStart(2,"0")).join("")}`,request_revision:an.toString()}}function Pr(e){try{let t=BigInt(e?.revision??0);t>an&&(an=t)}catch{}}async function Qe(e,t,{query:n,body:o,signal:a}={}){let r={method:e,signal:a,headers:{Accept:"application/json"}};o!==void 0&&(r.headers["Content-Type"]="application/json",r.body=JSON.stringify(o));let i,l=null;try{i=await fetch(t+Ot(n),r),l=await i.json().catch(()=>null)}catch(u){throw a?.aborted?u:(mt("The server does not answer."),new Pe(0))}return It(i,l)}function It(e,t){let n=Date.parse(e.headers.get("Date")??"");if(n){let a=n-Date.now();mo=Math.abs(a)>2e3?a:0}if(e.ok)return Dt(),Pr(t),t??{};let o=new Pe(e.status,t);throw o.offline?mt(o.message):Dt(),e.status===401&&Fr(),o}var x=(e,t,n)=>Qe("GET",e,{query:t,signal:n}),D=(e,t,n)=>Qe("POST",e,{body:t,signal:n});function Fr(){if(location.pathname==="/login")return;let e=location.pathname+location.search;history.replaceState(null,"",`/login${Ot({next:e==="/"?"":e})}`),dispatchEvent(new PopStateEvent("popstate"))}async function ke(e,t,n,o,a=5e3){let r=[],i="";do{let l=await x(e,{page_size:1e3,...t,page_token:i},o);r.push(...l[n]??[]),i=l.next_page_token??""}while(i&&r.length<a);return{items:r,more:i!==""}}var xe=ue(null),Mt=Ct("author",""),pe=()=>xe.get()?.authenticated?{}:{author:Mt.get()||"dashboard"};async function ln(){let e=await x("/session");xe.set({authenticates:e.authenticated??!1,...e}),Nt.clear()}async function fo(e){await Qe("POST","/session",{body:{token:e}}),await ln()}async function ho(){await Qe("DELETE","/session"),xe.set(null)}var Nt=new Map;function jr(e){let t=JSON.stringify(e),n=Nt.get(t);return(!n||n.at<Date.now()-6e4)&&(n={at:Date.now(),answer:D("/v1/can-i",e)},n.answer.catch(()=>Nt.delete(t)),Nt.set(t,n)),n.answer}var qr={ROLE_OPERATOR:"It needs the role operator there.",ROLE_EDITOR:"It needs the role editor there.",ROLE_ADMIN:"It needs the role admin.",ROLE_ACQUIRER:"It needs the role acquirer there."};function $o(e,t="",n="",o=""){let a=G(xe),[r,i]=_("");return E(()=>{if(!e||!a?.authenticated)return i("");let l=!1;return jr({role:e,semaphore:t,group:n,acquirer:o}).then(u=>l||i(u.allowed?"":`You may not: ${u.reason}. ${qr[e]} An administrator can grant it.`),()=>l||i("")),()=>l=!0},[e,t,n,o,a]),r}var b=e=>Number(e??0).toLocaleString("en"),O=(e,t,n)=>`${b(e)} ${Number(e)===1?t:n}`,M=e=>e?Math.round(parseFloat(e)*1e3):0;function ve(e){if(!e)return"0s";if(e<0)return`-${ve(-e)}`;let t="";for(let[n,o]of[["h",36e5],["m",6e4]]){let a=Math.floor(e/o);a&&(t+=a+n),e-=a*o}return e>=1e3||e&&t?t+=`${+(e/1e3).toFixed(3)}s`:e&&(t+=`${+e.toFixed(3)}ms`),t}function X(e){return e<0?"0s":e<1e4?ve(Math.round(e/100)*100):e<36e5?ve(Math.round(e/1e3)*1e3):e<48*36e5?ve(Math.round(e/6e4)*6e4):`${Math.floor(e/864e5)}d`}var ot=e=>X(Math.max(0,Math.round(e/1e3))*1e3),Ur={ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function Te(e){if(e=e.trim(),e==="")return;if(e==="0")return"0s";let t=0;if(e.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g,(o,a,r)=>(t+=parseFloat(a)*Ur[r],""))!=="")throw new Error(`“${e}” is not a duration. Write it as 90s, 5m, 1h30m or 2d.`);return`${+(t/1e3).toFixed(3)}s`}var Ye=e=>e==null?"":ve(M(e));var ft=e=>String(e).padStart(2,"0");function P(e){if(!e)return"";let t=new Date(e);return`${`${t.getFullYear()}-${ft(t.getMonth()+1)}-${ft(t.getDate())}`} ${Lt(t)}`}var Lt=e=>`${ft(e.getHours())}:${ft(e.getMinutes())}:${ft(e.getSeconds())}`;function rt(e){if(!e)return"";let t=new Date(e);return t.toDateString()===new Date(nt()).toDateString()?Lt(t):P(e)}function be(e){if(e=Number(e??0),e<1024)return`${e} B`;let t=-1;do e/=1024,t++;while(e>=1024&&t<3);return`${e<10?e.toFixed(1):Math.round(e)} ${["KiB","MiB","GiB","TiB"][t]}`}function Fe(e,t=3){let n=e.length-t;return e.slice(0,t).join(", ")+(n>0?` and ${b(n)} more`:"")}function cn(e){if(!e)return"";let t=Uint8Array.from(atob(e),n=>n.charCodeAt(0));try{return new TextDecoder("utf-8",{fatal:!0}).decode(t)}catch{return Array.from(t,n=>n.toString(16).padStart(2,"0")).join(" ")}}var Hr=4e4,Wr=5e3;function go(e,t,n){let o=!1,a=0,r=!1,i="",l=null,u=null,p=()=>{clearTimeout(u),l?.abort(),l=null},c=()=>{o=!0,p(),document.removeEventListener("visibilitychange",h)},h=()=>{document.hidden?p():l||d()},m=f=>{if(f.id&&(i=f.id),!f.data)return;let g=JSON.parse(f.data);if(f.type==="end")c(),n.end?.();else if(f.type==="error"){let $=new Pe(g.status??500,g);_o(g.code)||(c(),n.error?.($))}else n[f.type]?.(g,f.id)};async function d(){clearTimeout(u);let f=l=new AbortController,g=null,$=()=>{clearTimeout(g),g=setTimeout(()=>f.abort(),Hr)};try{$();let C={Accept:"text/event-stream"};i&&(C["Last-Event-ID"]=i);let y=await fetch(e+Ot(t),{headers:C,signal:f.signal});if(!y.ok||!y.headers.get("Content-Type")?.startsWith("text/event-stream"))throw It(y,await y.json().catch(()=>null)),new Pe(500,{message:"The answer is not a stream of events."});a=0,It(y,{}),n.open?.(r),r=!0,await Br(y.body,L=>!o&&m(L),$)}catch(C){C instanceof Pe?!C.offline&&!_o(C.code)&&C.status!==401?(c(),n.error?.(C)):C.status===401&&c():f.signal.aborted||mt("The connection to the server broke.")}finally{clearTimeout(g)}o||l!==f||(l=null,!document.hidden&&(a++,u=setTimeout(d,Math.min(Wr,500*a)*(.75+Math.random()/2))))}return document.addEventListener("visibilitychange",h),document.hidden||d(),c}var _o=e=>["UNAVAILABLE","ABORTED","CANCELLED","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","UNKNOWN"].includes(e);async function Br(e,t,n){let o=e.pipeThrough(new TextDecoderStream).getReader(),a="",r={type:"message",id:"",data:""};for(;;){let{value:i,done:l}=await o.read();if(l)return;n();let u=(a+i).split(`
`);a=u.pop();for(let p of u){if(p.endsWith("\r")&&(p=p.slice(0,-1)),p===""){t(r),r={type:"message",id:"",data:""};continue}let c=p.indexOf(":");if(c<=0)continue;let h=p.slice(c+1).replace(/^ /,"");switch(p.slice(0,c)){case"event":r.type=h;break;case"id":r.id=h;break;case"data":r.data+=h}}}}function T(e,t,{every:n=0,keep:o=!1}={}){let[a,r]=_({}),[i,l]=_(0),u=G(Le),p=JSON.stringify(t),c=Q(e);c.current=e,E(()=>{if(e===null)return;let d=new AbortController;return c.current(d.signal).then(f=>d.signal.aborted||r({data:f,key:p}),f=>d.signal.aborted||r(g=>({...g,error:f,failed:p}))),()=>d.abort()},[p,i,u,e===null]),E(()=>{if(!n)return;let d=setInterval(()=>document.hidden||l(f=>f+1),n);return()=>clearInterval(d)},[n]);let h=a.key===p,m=a.failed===p?a.error:void 0;return{data:h||o?a.data:void 0,error:m,loading:!h&&!m,refresh:()=>l(d=>d+1),set:d=>r(f=>({...f,data:d(f.data)}))}}function Se(e,t,n){let o=Q(n);o.current=n;let a=JSON.stringify([e,t]);E(()=>{if(!e)return;let r=i=>(...l)=>o.current[i]?.(...l);return go(e,t,{message:r("message"),live:r("live"),missed:r("missed"),open:r("open"),error:r("error"),end:r("end")})},[a])}var un=ue(0),vo=null,bo=0;function Ae(){return E(()=>(bo++===0&&(vo=setInterval(()=>document.hidden||un.set(un.get()+1),1e3)),()=>{--bo===0&&clearInterval(vo)}),[]),G(un)}function Ie(e,t){let n=Q(e);n.current=e;let o=Q(null);return E(()=>()=>clearTimeout(o.current),[]),()=>{o.current===null&&(o.current=setTimeout(()=>{o.current=null,n.current()},t))}}function Pt(e){let[t,n]=_(()=>matchMedia(e).matches);return E(()=>{let o=matchMedia(e),a=()=>n(o.matches);return o.addEventListener("change",a),()=>o.removeEventListener("change",a)},[e]),t}function ye({what:e="Reading"}){return s`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${e} …</p>`}function A({title:e,children:t}){return s`<div class="empty"><p class="empty-title">${e}</p>${t&&s`<p>${t}</p>`}</div>`}var yo={PERMISSION_DENIED:"An administrator can grant you the role.",UNAUTHENTICATED:"Log in again."};function B({error:e,retry:t}){if(!e)return null;let n=e.fields??[];return s`<div class="failure" role="alert">
    <p class="failure-text">${wo(e.message)}</p>
    ${yo[e.code]&&s`<p>${yo[e.code]}</p>`}
    ${n.length>0&&s`<ul>${n.map(o=>s`<li><code>${o.field}</code>: ${o.rule}</li>`)}</ul>`}
    ${e.offline&&s`<p>Whether a change was made is then not known. The activity page shows it. The same button again does nothing twice.</p>`}
    <p class="row">
      ${t&&s`<button type="button" onClick=${t}>Try again</button>`}
      ${(e.reason||e.code)&&s`<span class="faint">${e.reason||e.code}</span>`}
    </p>
  </div>`}var wo=(e="")=>{let t=e.charAt(0).toUpperCase()+e.slice(1);return/[.!?…]$/.test(t)?t:`${t}.`};function K({of:e,what:t,children:n}){return e.data===void 0?e.error&&!e.error.offline?s`<${B} error=${e.error} retry=${e.refresh} />`:s`<${ye} what=${t} />`:s`${e.error&&!e.error.offline&&s`<${B} error=${e.error} retry=${e.refresh} />`}${n(e.data)}`}function ko(){let e=G(Oe);return Ae(),e.online?s`<div role="status" class="sr-only"></div>`:s`<div class="offline" role="status">
    <strong>${wo(e.message)}</strong>
    <span> What is shown is as of ${Lt(new Date(e.since))}. This page asks again every second, and recovers without you.</span>
  </div>`}var ht=ue([]),Kr=0;function he(e,{tone:t="run",action:n}={}){ht.set([...ht.get().slice(-2),{id:++Kr,text:e,tone:t,action:n}])}var pn=e=>ht.set(ht.get().filter(t=>t.id!==e));function zr({id:e,text:t,tone:n,action:o}){return E(()=>{let a=setTimeout(()=>pn(e),o?3e4:12e3);return()=>clearTimeout(a)},[e]),s`<div class="notice tone-${n}">
    <span>${t}</span>
    ${o&&s`<button type="button" onClick=${()=>(pn(e),o.run())}>${o.text}</button>`}
    <button type="button" class="plain" aria-label="Dismiss" onClick=${()=>pn(e)}>×</button>
  </div>`}function Eo(){let e=G(ht);return s`<div class="notices" role="status">${e.map(t=>s`<${zr} key=${t.id} ...${t} />`)}</div>`}function W({role:e,semaphore:t,group:n,acquirer:o,why:a,kind:r="",children:i,onClick:l,type:u="button",...p}){let c=$o(e,t,n,o),h=pt(),m=c||a;return s`<span class="action">
    <button
      type=${m?"button":u}
      class=${r}
      aria-disabled=${m?"true":void 0}
      aria-describedby=${m?h:void 0}
      onClick=${m?void 0:l}
      ...${p}
    >${i}</button>
    ${m&&s`<span class="why" role="tooltip" id=${h}>${m}</span>`}
  </span>`}function le({title:e,onClose:t,wide:n,children:o}){let a=Q(null),r=pt();return ut(()=>{let i=document.activeElement,l=a.current;return l.showModal(),()=>{l.close(),i?.isConnected&&i.focus()}},[]),s`<dialog
    ref=${a}
    class=${n?"wide":""}
    aria-labelledby=${r}
    onCancel=${i=>(i.preventDefault(),t())}
    onMouseDown=${i=>i.target===a.current&&t()}
  >
    <div class="dialog-body">
      <header class="dialog-head">
        <h2 id=${r}>${e}</h2>
        <button type="button" class="plain" aria-label="Close" onClick=${t}>×</button>
      </header>
      ${o}
    </div>
  </dialog>`}function xo({label:e,help:t,error:n,children:o,class:a=""}){let r=pt(),i=[t&&`${r}-help`,n&&`${r}-error`].filter(Boolean).join(" ")||void 0;return s`<div class="field ${a}">
    <label for=${r}>${e}</label>
    ${o({id:r,"aria-describedby":i,"aria-invalid":n?"true":void 0})}
    ${t&&s`<p class="help" id="${r}-help">${t}</p>`}
    ${n&&s`<p class="error" id="${r}-error" role="alert">${n}</p>`}
  </div>`}function F({label:e,help:t,error:n,value:o,onInput:a,area:r,class:i,...l}){return s`<${xo} label=${e} help=${t} error=${n} class=${i}>
    ${u=>r?s`<textarea rows=${r} value=${o} onInput=${p=>a(p.target.value)} ...${u} ...${l}></textarea>`:s`<input value=${o} onInput=${p=>a(p.target.value)} autocomplete="off" spellcheck=${!1} ...${u} ...${l} />`}
  <//>`}function Ee({label:e,help:t,value:n,options:o,onChange:a,class:r}){return s`<${xo} label=${e} help=${t} class=${r}>
    ${i=>s`<select value=${n} onChange=${l=>a(l.target.value)} ...${i}>
      ${o.map(([l,u])=>s`<option value=${l} selected=${l===n}>${u}</option>`)}
    </select>`}
  <//>`}function se({label:e,help:t,checked:n,onChange:o}){let a=pt();return s`<div class="check">
    <input type="checkbox" id=${a} checked=${n} aria-describedby=${t?`${a}-help`:void 0} onChange=${r=>o(r.target.checked)} />
    <label for=${a}>${e}</label>
    ${t&&s`<span class="help" id="${a}-help">${t}</span>`}
  </div>`}function st({of:e,query:t="tab",label:n}){let[o]=q(),a=o.get(t)??e[0][0],r=i=>{let l=new URLSearchParams(o);i===e[0][0]?l.delete(t):l.set(t,i);let u=l.toString();return location.pathname+(u?`?${u}`:"")};return s`<nav class="tabs" aria-label=${n}>
    ${e.map(([i,l])=>s`<a href=${r(i)} aria-current=${i===a?"page":void 0}>${l}</a>`)}
  </nav>`}function To(e){let t=Q(e);t.current=e,E(()=>{let n=o=>{if(o.defaultPrevented||o.ctrlKey||o.metaKey||o.altKey||document.querySelector("dialog[open]"))return;let a=/^(INPUT|TEXTAREA|SELECT)$/.test(o.target.tagName);a&&o.key!=="Escape"||t.current[o.key]?.(o,a)};return addEventListener("keydown",n),()=>removeEventListener("keydown",n)},[])}function I(e,t){return!e||e===`${t}UNSPECIFIED`?"":e.slice(t.length).toLowerCase().replaceAll("_"," ")}var Ft=[{value:"DEFINITION_STATE_DISABLED",word:"disabled",tone:"deny",help:"A pattern cannot be used: nobody is let in."},{value:"DEFINITION_STATE_DENIED",word:"denied",tone:"deny",help:"Callers are denied, and nobody gets a permit, until somebody acts."},{value:"DEFINITION_STATE_HELD",word:"held for an operator",tone:"stop",help:"A slot is held until an operator clears it."},{value:"DEFINITION_STATE_MISSED",word:"missed",tone:"stop",help:"Expected work is missed: it is silent."},{value:"DEFINITION_STATE_STOPPING",word:"stopping",tone:"stop",help:"A holder must stop."},{value:"DEFINITION_STATE_PAUSED",word:"paused",tone:"pause",help:"Nobody is let in until the pause ends."},{value:"DEFINITION_STATE_WAITING",word:"waiting",tone:"wait",help:"Somebody waits in the queue."},{value:"DEFINITION_STATE_RUNNING",word:"running",tone:"run",help:"Somebody holds a permit."},{value:"DEFINITION_STATE_IDLE",word:"idle",tone:"idle",help:"Nothing takes a slot."}],Vr={value:"",word:"unknown",tone:"idle",help:""},So=e=>Ft.find(t=>t.value===e)??Vr,$t=e=>Ft.filter(t=>e.states?.includes(t.value));function Co(e){let t=$t(e)[0];return e.pause&&t?.word==="paused"?e.pause.until?`paused until ${rt(e.pause.until)}`:"paused":t?.word??"unknown"}function jt(e){let t=[];e.disabled&&t.push(`Disabled: ${e.disabled}`),e.pause&&t.push(Jr(e.pause)),e.missed&&t.push(Gr(e.missed));for(let n of e.ends??[])t.push(`${n.fields.join(", ")}: as it is until ${P(n.until)}, then its value of before.`);return[...t,...e.warnings??[]]}function Jr(e){let t=e.until?`Paused until ${P(e.until)}`:"Paused until it is resumed";return e.reason&&(t+=`: ${e.reason}`),e.stop&&(t+=e.drain?`. Holders must stop within ${X(M(e.drain))}`:". Holders must stop"),`${t}. By ${e.author||"somebody"}.`}function Gr(e){let t=I(e.kind,"MISSED_KIND_");return e.text||`Missed: ${t}${e.reason?` (${I(e.reason,"REASON_")})`:""}`}var j=e=>`${e?.acquirer??""} in ${e?.group||"default"}`;function Ro(e){let t=I(e.state,"PERMIT_STATE_")||"live";t==="held"&&(t="held for an operator"),e.drain_left&&(t+=`, draining for ${X(M(e.drain_left))}`);let n=I(e.stop,"STOP_CAUSE_");return n&&(t+=`, stopping: ${n}${e.stop_reason?` (${e.stop_reason})`:""}`),t}var Do=e=>e.state==="PERMIT_STATE_HELD"||e.stop?"stop":e.state==="PERMIT_STATE_COOLING"?"idle":"run";function qe(e){return e?e.due?`${e.name}@${e.due.replace(/\.000Z$/,"Z")}`:e.name:""}var de=[{name:"description",kind:"text",label:"Description",help:"Free text for people."},{name:"labels",kind:"labels",label:"Labels",help:"One key=value per line. Commands and filters select by them."},{name:"group_pattern",kind:"pattern",label:"Group pattern",help:"A regular expression (RE2) that the whole group must match."},{name:"acquirer_pattern",kind:"pattern",label:"Acquirer pattern",help:"The same for the acquirer, normally a host."},{name:"permits",kind:"number",label:"Permits",help:"How much weight may be held at once. 0 lets nobody in."},{name:"duration",kind:"duration",label:"Duration",help:"How long a permit lives without a refresh. It bounds how long a dead holder keeps its slot."},{name:"max_hold",kind:"duration",label:"Max hold",help:"A job that holds longer must stop. Empty: no limit."},{name:"min_hold",kind:"duration",label:"Min hold",help:"The slot stays taken at least this long after a grant."},{name:"loss_delay",kind:"duration",label:"Loss delay",help:"After a lost holder the slot stays taken this much longer."},{name:"on_expiry",kind:"choice",prefix:"ON_EXPIRY_",values:["FREE","HOLD"],label:"On expiry",help:"What becomes of the slot of a permit that expired. hold: until an operator clears it."},{name:"takeover",kind:"flag",label:"Takeover",help:"Callers may take over from a holder that they judge dead."},{name:"expect_every",kind:"duration",label:"Expect every",help:"How often this work is expected to ask. Empty: nothing is expected."},{name:"firing_on_loss",kind:"choice",prefix:"FIRING_ON_LOSS_",values:["SPENT","FREE"],label:"Firing on loss",help:"What becomes of a firing whose permit was lost. free: it may be claimed again."},{name:"firing_retention",kind:"duration",label:"Firing retention",help:"How long a firing is remembered after its due time."},{name:"firing_limit",kind:"number",label:"Firing limit",help:"How many firings are remembered at most."},{name:"firing_max_ahead",kind:"duration",label:"Firing max ahead",help:"How far ahead of the leader’s clock a firing may be due. 0: any."},{name:"max_attempts",kind:"number",label:"Max attempts",help:"How many holders may attempt a firing. 0: any number."},{name:"misfire",kind:"choice",prefix:"MISFIRE_",values:["SKIP","ONCE","EACH"],label:"Misfire",help:"What becomes of firings that nobody claimed when they were due."},{name:"misfire_window",kind:"duration",label:"Misfire window",help:"How long ago such a firing may have been due."}];function je(e,t){let n=t?.[e.name];switch(e.kind){case"labels":return Object.keys(n??{}).sort().map(o=>n[o]===""?o:`${o}=${n[o]}`).join(", ");case"duration":return Ye(n);case"choice":return I(n,e.prefix)||e.values[0].toLowerCase();case"flag":return n?"yes":"no";case"number":return String(n??0)}return n??""}function dn(e,t){return de.map(n=>({field:n,before:je(n,e),after:je(n,t)})).filter(n=>n.before!==n.after)}var mn=(e=[],t=e.length,n=2)=>{let o=e.slice(0,n).map(r=>`${r.acquirer} in ${r.group}`),a=t-o.length;return o.join(", ")+(a>0?` and ${b(a)} more`:"")};function Oo(e=[]){let t=e.flatMap(r=>r.stopped??[]);if(t.length===0)return"No holder must stop.";let n=t.filter(r=>r.drain_left).length,o=[];t.length>n&&o.push(`${O(t.length-n,"holder","holders")} must stop`),n&&o.push(`the ${n===1?"drain of 1 holder is":`drains of ${n} holders are`} cut short`);let a=`${o.join(", ")}; every slot is free within ${X(Math.max(...t.map(r=>M(r.free_within))))}.`;return a[0].toUpperCase()+a.slice(1)}function Ao(e=[],t=[]){let n=new Map;for(let o of e)for(let a of o.warnings??[])n.set(a,[...n.get(a)??[],o.semaphore]);return[...t,...[...n].map(([o,a])=>`${Fe(a)}: ${o}`)]}var Qr=e=>`${e.length===1?"change":"changes"} ${Fe(e,5)}`;function fn(e){let t=[];return e.group_pattern&&t.push(`group ${e.group_pattern}`),e.acquirer_pattern&&t.push(`acquirer ${e.acquirer_pattern}`),e.until&&t.push(`until ${P(e.until)}`),t.join(", ")}function Io(e){let t=[],n=I(e.kind,"EVENT_KIND_");e.until&&n!=="resumed"&&t.push(`until ${P(e.until)}`);let o=e.pause;if(o&&n!=="resumed"&&((n==="created"||n==="deleted")&&t.push("while paused"),o.until&&t.push(`until ${P(o.until)}`),o.stop&&t.push(o.drain?`holders must stop within ${X(M(o.drain))}`:"holders must stop")),e.pause_before&&t.push(`instead of the pause of change ${e.pause_before.change}`),e.cordon&&t.push(`“${e.cordon.id}”, ${fn(e.cordon)}`),e.cordon_before&&t.push(`instead of that of change ${e.cordon_before.change}`),e.firings?.firings?.length){let r=e.firings.firings.map(l=>qe(l.firing)),i=n==="firings remembered"?"remembered again":"forgotten";t.push(`${O(r.length,"firing","firings")} ${i} (${Fe(r)})`)}(e.binding_before||e.binding_after)&&t.push(`binding ${(e.binding_after??e.binding_before).name}`),e.undoes&&e.undoes!=="0"&&t.push(`undoes ${Qr([e.undoes,...e.also_undoes??[]])}`),e.permit&&t.push(`${j(e.permit.identity)}, token ${e.permit.token}`);let a=I(e.missed,"MISSED_KIND_");return a&&t.push(a),e.drain&&t.push(`drain ${X(M(e.drain))}`),[...new Set(t)].join("; ")}var Yr={created:"run",replaced:"accent",deleted:"deny",paused:"pause",resumed:"run",cordoned:"deny",uncordoned:"run",granted:"run",released:"idle",expired:"stop",held:"stop",cleared:"run",stopping:"stop",missed:"stop",heard:"run","freed unsafely":"deny"},No=e=>Yr[I(e,"EVENT_KIND_")]??"idle",Mo=e=>["CREATED","REPLACED","DELETED","PAUSED","RESUMED","CORDONED","UNCORDONED","FIRINGS_FORGOTTEN","FIRINGS_REMEMBERED"].includes(e.kind?.slice(11));function hn(e){let t=I(e.role,"ROLE_");return e.semaphores?.length&&(t+=` on ${e.semaphores.join(", ")}`),e.labels&&(t+=` where ${e.labels}`),e.group&&(t+=` in group ${e.group}`),e.acquirer&&(t+=` as acquirer ${e.acquirer}`),t}function V({caption:e,columns:t,rows:n,rowKey:o,empty:a,note:r}){return n?.length?s`<div class="table-wrap">
    <table>
      <caption class="sr-only">${e}</caption>
      <thead><tr>${t.map(([i,,l])=>s`<th scope="col" class=${l}>${i}</th>`)}</tr></thead>
      <tbody>
        ${n.map((i,l)=>s`<tr key=${o?o(i):l}>
          ${t.map(([u,p,c],h)=>h===0?s`<th scope="row" class=${c} data-label=${u}>${p(i)}</th>`:s`<td class=${c} data-label=${u}>${p(i)}</td>`)}
        </tr>`)}
      </tbody>
    </table>
    ${r&&s`<p class="faint">${r}</p>`}
  </div>`:a??s`<${A} title="Nothing here." />`}function Ce({of:e}){return s`<dl class="facts">
    ${e.filter(([,t])=>t!=null&&t!=="").map(([t,n])=>s`<div><dt>${t}</dt><dd>${n}</dd></div>`)}
  </dl>`}function $e({share:e,tone:t="accent",label:n}){let o=Math.max(0,Math.min(1,e||0));return s`<span class="bar tone-${t}" role="img" aria-label=${n}>
    <span class="bar-fill" style=${{transform:`scaleX(${o.toFixed(4)})`}}></span>
  </span>`}function qt({at:e,of:t,what:n="expires unless it is refreshed"}){if(Ae(),!e)return s`<span class="faint">–</span>`;let o=Math.max(0,e-Date.now()),a=t&&o/t<.34;return s`<span class="deadline" title=${n}>
    ${t>0&&s`<${$e} share=${o/t} tone=${a?"wait":"run"} label="${ot(o)} left" />`}
    <span class="num">${ot(o)}</span>
  </span>`}function ae({at:e}){return Ae(),e?s`<time class="num" datetime=${e} title=${new Date(e).toLocaleString()}>${ot(nt()-Date.parse(e))}</time>`:"–"}function Lo({parts:e,total:t,label:n}){let o=0;return s`<svg class="segments" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${n}>
    <rect class="track" x="0" y="0" width="1000" height="10" />
    ${e.filter(([a])=>a>0).map(([a,r])=>{let i=t?1e3*a/t:0,l=s`<rect class="fill-${r}" x=${o} y="0" width=${i} height="10" />`;return o+=i,l})}
  </svg>`}var Ue=50;function $n({before:e,after:t}){if(!e&&!t)return null;if(!e)return s`<span>created</span>`;if(!t)return s`<span>deleted</span>`;let n=dn(e,t);return n.length===0?s`<span class="faint">–</span>`:s`<ul class="changes">
    ${n.map(o=>s`<li>
        <span class="change-name">${o.field.name}</span>
        <del>${o.before||"(none)"}</del><span class="sr-only"> becomes </span><ins>${o.after||"(none)"}</ins>
      </li>`)}
  </ul>`}function Xr({effects:e}){let t=e.flatMap(n=>n.stopped??[]);return t.length===0?null:s`<section>
    <h3>Must stop</h3>
    <${V}
      caption="Holders that must stop"
      rows=${t.slice(0,Ue)}
      rowKey=${n=>n.permit.token}
      columns=${[["Semaphore",n=>n.permit.semaphore,"name"],["Holder",n=>j(n.permit.identity),"name"],["Token",n=>n.permit.token,"num"],["Since",n=>s`<${ae} at=${n.permit.granted_at} />`,"num"],["Free within",n=>X(M(n.free_within))+(n.drain_left?` (its drain had ${X(M(n.drain_left))} left)`:""),"num"]]}
      note=${t.length>Ue&&`and ${b(t.length-Ue)} more`}
    />
  </section>`}function Po({of:e}){let t=e.effects??[],n=t.filter(i=>i.total_admitted||i.total_shut_out||!i.before!=!i.after||dn(i.before,i.after).length),o=Ao(t,e.warnings),a=t.flatMap(i=>i.held??[]),r=t.filter(i=>Number(i.waiting_tasks));return s`<div class="effects">
    <p class="lead">${Oo(t)}</p>
    ${e.confirm?.length>0&&s`<ul class="confirm">${e.confirm.map(i=>s`<li>${i.text}</li>`)}</ul>`}
    ${o.length>0&&s`<ul class="warnings">${o.slice(0,20).map(i=>s`<li>${i}</li>`)}</ul>`}
    ${n.length>0&&s`<section>
      <h3>${O(n.length,"semaphore changes","semaphores change")}</h3>
      <${V}
        caption="Semaphores that change"
        rows=${n.slice(0,Ue)}
        rowKey=${i=>i.semaphore}
        columns=${[["Semaphore",i=>i.semaphore,"name"],["Changes",i=>s`<${$n} before=${i.before} after=${i.after} />`],["Lets in",i=>mn(i.admitted,i.total_admitted??0)||"–"],["Shuts out",i=>mn(i.shut_out,i.total_shut_out??0)||"–"],["Stops",i=>b(i.stopped?.length),"num"],["Continue",i=>b(i.unaffected),"num"]]}
        note=${n.length>Ue&&`and ${b(n.length-Ue)} more`}
      />
    </section>`}
    <${Xr} effects=${t} />
    ${a.length>0&&s`<section><h3>Held for an operator</h3>
      <ul>${a.slice(0,Ue).map(i=>s`<li>${i.semaphore}: the permit of ${j(i.identity)} (token ${i.token}) expired. Its slot stays taken until it is cleared.</li>`)}</ul>
    </section>`}
    ${r.length>0&&s`<ul>${r.slice(0,Ue).map(i=>s`<li>${i.semaphore}: ${O(i.waiting_tasks,"task waits","tasks wait")} for a worker${i.tasks_run?`; after this change, ${i.tasks_run}`:""}.</li>`)}</ul>`}
  </div>`}function me(e){let{title:t,verb:n,kind:o,preview:a,run:r,done:i,onClose:l,onDone:u,onError:p,role:c,semaphore:h,nothing:m,deps:d,extra:f,children:g}=e,[$,C]=_(0),y=T(a,[t,$,d],{keep:!0}),L=y.loading||y.error,[N,k]=_(""),[Y,re]=_(!1),[J,ie]=_(null),w=Q(null),R=y.data&&m?.(y.data);E(()=>{y.error&&p?.(y.error)&&l()},[y.error]),E(()=>{w.current=null},[JSON.stringify(d)]);let U=()=>{w.current=null,ie(null),C($+1)};async function v(H){if(H.preventDefault(),!(Y||L||R)){re(!0),ie(null),w.current??=At();try{let S=await r({reason:N,...pe(),...w.current},y.data),ce=S.revision??S.change,tt=ce&&ce!=="0"?{text:"Undo",run:()=>Xe(ce)}:void 0;he(i(S),{action:tt}),u?.(S,y.data),l()}catch(S){S.code!=="UNAVAILABLE"&&(w.current=null),ie(S),re(!1),p?.(S)&&l()}}}return s`<${le} title=${t} onClose=${l} wide>
    <form onSubmit=${v}>
      ${g}
      <${K} of=${y} what="Asking what this would do">
        ${H=>s`${f?.(H)}<${Po} of=${H} />${H.notes?.length>0&&s`<ul>${H.notes.map(S=>s`<li>${S}</li>`)}</ul>`}
        ${R&&s`<p class="lead">${R}</p>`}`}
      <//>
      <${F} label="Reason" help="For the journal: why you do this." value=${N} onInput=${k} maxlength="1024" />
      ${J&&s`<${B} error=${J} retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(J.reason)?U:void 0} />`}
      <p class="row end">
        <button type="button" onClick=${l}>Cancel</button>
        <${W} role=${c} semaphore=${h} type="submit" kind=${o??"primary"} why=${L?"There is no preview yet.":R}>
          ${Y?"Working …":typeof n=="function"?n(y.data??{}):n}
        <//>
      </p>
    </form>
  <//>`}var _n=ue(null);function Xe(e,t){_n.set({change:String(e),onDone:t})}function Fo(){let e=G(_n);return e?s`<${me}
    key=${e.change}
    title=${`Undo change ${e.change}`}
    verb="Undo it"
    preview=${()=>D("/v1/undo",{change:e.change,dry_run:!0,...pe()})}
    nothing=${t=>t.undone_by&&t.undone_by!=="0"?`It was undone already, by change ${t.undone_by}.`:t.nothing?"Nothing is left to undo.":""}
    run=${(t,n)=>D("/v1/undo",{change:e.change,plan:n.plan,...t})}
    done=${()=>`Change ${e.change} is undone.`}
    onDone=${e.onDone}
    onClose=${()=>_n.set(null)}
  />`:null}var Zr=[["/","Overview"],["/move","Move and pause"],["/activity","Activity"],["/jobs","Jobs"],["/cluster","Cluster"],["/access","Access"]],gn=Ct("theme","auto");gn.subscribe(e=>{e==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=e});function es(){let e=G(gn),t={auto:"light",light:"dark",dark:"auto"}[e];return s`<button type="button" class="plain" onClick=${()=>gn.set(t)} title="Theme: ${e}. Click for ${t}.">
    <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" /><path class="solid" d=${e==="auto"?"M8 2a6 6 0 0 1 0 12z":e==="dark"?"M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12z":"M8 8z"} />
    </svg>
    <span class="sr-only">Theme: ${e}. Change to ${t}</span>
  </button>`}var ts=[["/","Search"],["↑ ↓","Move in a list; Home, End, Page Up and Page Down too"],["Enter","Open"],["Esc","Leave a field, close a dialog, or go back"],["g then o, m, a, j, c","Overview, Move and pause, Activity, Jobs, Cluster"],["?","These keys"]];function ns({onClose:e}){return s`<${le} title="Keys" onClose=${e}>
    <dl class="keys">${ts.map(([t,n])=>s`<div><dt><kbd>${t}</kbd></dt><dd>${n}</dd></div>`)}</dl>
  <//>`}function os(){let e=G(xe),t=G(Mt),[n,o]=_(!1);if(!e)return null;let a=e.authenticated?e.principal||e.credential:t||"dashboard";return s`<button type="button" class="plain who" onClick=${()=>o(!0)}><span class="sr-only">You are </span>${a}</button>
    ${n&&s`<${le} title="You" onClose=${()=>o(!1)}>
      ${e.authenticated?s`<p>The servers see you as <strong>${e.principal}</strong>, by ${e.credential}. <a href="/access">What you may do</a></p>
            <p class="row end"><button type="button" onClick=${()=>ho().finally(()=>location.assign("/login"))}>Log out</button></p>`:s`<p>These servers do not authenticate callers: everybody may do everything.</p>
            <${F} label="Your name" help="The journal shows it as the author of your changes. Nobody checks it." value=${t} onInput=${r=>Mt.set(r)} maxlength="256" />
            <p class="row end"><button type="button" class="primary" onClick=${()=>o(!1)}>Done</button></p>`}
    <//>`}`}function rs(){let t=T(n=>x("/v1/status",{},n),["status"],{every:1e4,keep:!0}).data;return t?s`<a class="leader" href="/cluster">
    ${t.leader_id?s`<span class="lamp tone-run" aria-hidden="true"></span>${t.leader_id}<span class="long"> leads</span>`:s`<span class="lamp tone-deny" aria-hidden="true"></span>no leader`}
  </a>`:s`<a class="leader" href="/cluster"><span class="sr-only">Cluster: </span>…</a>`}var ss={o:"/",m:"/move",a:"/activity",j:"/jobs",c:"/cluster"};function vn({children:e,bare:t}){let n=G(Ge).split("?")[0],[o,a]=_(!1),r=Q(null),i=Q(!0),l=Q(0);return E(()=>{if(i.current){i.current=!1;return}scrollTo(0,0),r.current?.querySelector("h1")?.focus()},[n]),To({"?":()=>a(!0),"/":u=>{let p=document.querySelector("[data-search]");p&&(u.preventDefault(),p.focus(),p.select())},Escape:(u,p)=>{p?u.target.blur():n!=="/"&&co()},g:()=>l.current=Date.now(),...Object.fromEntries(Object.entries(ss).map(([u,p])=>[u,()=>Date.now()-l.current<1500&&document.querySelector(`.nav a[href="${p}"]`)?.click()]))}),s`<a class="skip" href="#main">Skip to the content</a>
    ${!t&&s`<header class="top">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24" />Gatekeeper</a>
      <nav class="nav" aria-label="Views">
        ${Zr.map(([u,p])=>{let c=u==="/"?n==="/"||n.startsWith("/s/"):n===u||n.startsWith(`${u}/`);return s`<a href=${u} aria-current=${c?"page":void 0}>${p}</a>`})}
      </nav>
      <div class="tools">
        <${rs} />
        <${os} />
        <${es} />
        <button type="button" class="plain" onClick=${()=>a(!0)} title="Keys"><span aria-hidden="true">?</span><span class="sr-only">Keys</span></button>
      </div>
    </header>`}
    <${ko} />
    <main id="main" tabindex="-1" ref=${r}>${e}</main>
    <${Eo} />
    <${Fo} />
    ${o&&s`<${ns} onClose=${()=>a(!1)} />`}`}function Z({children:e,aside:t}){return s`<div class="title"><h1 tabindex="-1">${e}</h1>${t&&s`<div class="row">${t}</div>`}</div>`}var jo=[["viewer","–","see definitions, permits, queues, history, jobs and status"],["acquirer","viewer","acquire, keep and release permits, take over, verify, submit jobs and work on them"],["verifier","–","verify permits, for a guarded resource"],["operator","viewer","pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo these"],["editor","viewer","create, replace and delete definitions; undo that"],["admin","all","everything, also change members, settings, bindings and tokens"]];function as(){let[e,t]=_({role:"ROLE_OPERATOR",semaphore:""}),[n,o]=_(null),[a,r]=_(null);return s`<section class="panel stack">
    <h2>May I?</h2>
    <form class="form" onSubmit=${l=>{l.preventDefault(),D("/v1/can-i",{role:e.role,semaphore:e.semaphore.trim()}).then(u=>(o(u),r(null)),r)}}>
      <${Ee} label="Role" value=${e.role} onChange=${l=>t({...e,role:l})} options=${jo.map(([l])=>[`ROLE_${l.toUpperCase()}`,l])} />
      <${F} label="On semaphore" value=${e.semaphore} onInput=${l=>t({...e,semaphore:l})} help="Empty: anywhere." />
      <p class="row full"><button class="primary">Ask</button></p>
    </form>
    <div role="status">
      ${n&&(n.allowed?s`<p class="lead tone-run">Yes.</p>`:s`<p class="lead"><strong class="tone-deny">No.</strong> ${n.reason}</p>`)}
    </div>
    ${a&&s`<${B} error=${a} />`}
  </section>`}function is(){let e=T(t=>x("/v1/bindings",{},t),["bindings"]);return e.error?e.error.code==="PERMISSION_DENIED"?s`<${A} title="Only administrators see who may do what." />`:s`<${B} error=${e.error} retry=${e.refresh} />`:e.data?s`<${V}
      caption="Bindings"
      rows=${e.data.bindings}
      rowKey=${t=>t.name}
      empty=${s`<${A} title="There are no bindings." />`}
      columns=${[["Name",t=>t.name,"name"],["Subjects",t=>(t.subjects??[]).join(", ")||"–","name"],["May",t=>s`<ul class="changes">${(t.grants??[]).map(n=>s`<li>${hn(n)}</li>`)}</ul>`],["Tokens",t=>(t.tokens??[]).map(n=>`${n.id}${n.expires_at?` until ${P(n.expires_at)}`:""}`).join(", ")||"–"],["Changed",t=>`${P(t.updated_at)}${t.updated_by?` by ${t.updated_by}`:""}`,"num"]]}
    />
    <p class="faint">Change them with <code>gkctl auth bind</code>, <code>unbind</code> and <code>token</code>.</p>`:s`<${ye} what="Reading the bindings" />`}function qo(){ne("Access");let e=G(xe);return s`<${Z}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${e?e.authenticated?s`<${Ce} of=${[["Principal",e.principal],["Credential",e.credential],["You may",(e.grants??[]).map(hn).join("; ")||"nothing"],["Acquirers",(e.acquirers??[]).join(", ")]]} />`:s`<p>These servers do not authenticate callers: everybody may do everything.</p>`:s`<${ye} what="Asking who you are" />`}
      </section>
      <div class="panels">
        <${as} />
        <section class="panel"><h2>Roles</h2>
          <${V} caption="Roles" rows=${jo} columns=${[["Role",t=>t[0]],["Includes",t=>t[1]],["May",t=>t[2]]]} />
        </section>
      </div>
      <section class="panel"><h2>Who may do what</h2><${is} /></section>
    </div>`}var ls=["EVENT_KIND_CREATED","EVENT_KIND_REPLACED","EVENT_KIND_DELETED"],cs=e=>ls.includes(e)?"ROLE_EDITOR":"ROLE_OPERATOR";function _t({entries:e,semaphore:t,onChange:n}){let o="";return s`<ol class="entries">
    ${e.map(a=>{let r=a.revision!==o;return o=a.revision,s`<li key=${`${a.revision}.${a.ordinal??0}`} class=${r?"":"same"}>
        <div class="entry-head">
          <time class="num" datetime=${a.at} title=${P(a.at)}>${rt(a.at)}</time>
          <span class="tag tone-${No(a.kind)}">${I(a.kind,"EVENT_KIND_")}</span>
          ${!t&&a.semaphore&&s`<a class="mono" href=${`/s/${encodeURIComponent(a.semaphore)}`}>${a.semaphore}</a>`}
          <span class="grow">${Io(a)}</span>
          <span class="faint"><a href=${`/activity?change=${a.revision}`}>change ${a.revision}</a>${a.author&&` by ${a.author}`}</span>
          ${r&&Mo(a)&&s`<${W} role=${cs(a.kind)} semaphore=${a.semaphore??""} onClick=${()=>Xe(a.revision,n)}>Undo …<//>`}
        </div>
        ${a.reason&&s`<p class="entry-reason">${a.reason}</p>`}
        ${a.before&&a.after&&s`<${$n} before=${a.before} after=${a.after} />`}
      </li>`})}
  </ol>`}function Uo(){ne("Activity");let[e,t]=q(),n=e.get("change")??"";return s`<${Z} aside=${n&&s`<a class="button" href="/activity">All activity</a>`}>${n?`Change ${n}`:"Activity"}<//>
    ${n?s`<${ds} change=${n} />`:s`<${ps} params=${e} change=${t} />`}`}var us=e=>e.split(/[\s,]+/).filter(Boolean).map(t=>/[*?[]/.test(t)?t:`*${t}*`);function ps({params:e,change:t}){let[n,o]=we(e.get("q")??"",$=>t({q:$}),300),[a,r]=we(e.get("labels")??"",$=>t({labels:$}),400),i=e.get("permits")==="1",l=e.get("by")??"",[u,p]=we(l,$=>t({by:$}),300),[c,h]=_(50),m={names:us(e.get("q")??""),labels:e.get("labels")??"",permits:i},d=T($=>x("/v1/history",{...m,page_size:c},$),["journal",m,c],{every:15e3,keep:!0}),f=Ie(d.refresh,i?500:60);Se("/v1/watch",m,{message:({events:$=[]})=>$.length&&f(),missed:f,open:$=>$&&f()});let g=(d.data?.entries??[]).filter($=>!l||($.author??"").toLowerCase().includes(l.toLowerCase()));return s`<form class="filters" role="search" onSubmit=${$=>$.preventDefault()}>
      <div class="field grow"><label for="activity-q">Semaphores <kbd aria-hidden="true">/</kbd></label><input id="activity-q" data-search value=${n} onInput=${$=>o($.target.value)} placeholder="part of a name, or a glob" spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-by">By</label><input id="activity-by" value=${u} onInput=${$=>p($.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-labels">Labels</label><input id="activity-labels" value=${a} onInput=${$=>r($.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <${se} label="Also how permits ended" checked=${i} onChange=${$=>t({permits:$?"1":""})} />
    </form>
    <section class="panel">
      <${K} of=${d} what="Reading the journal">
        ${$=>s`
          ${g.length?s`<${_t} entries=${g} onChange=${d.refresh} />`:s`<${A} title="The journal has nothing of that.">Edits, pauses, cordons and undos appear here as they happen.<//>`}
          ${$.next_page_token&&c<1e3&&s`<p class="row"><button type="button" onClick=${()=>h(Math.min(1e3,c*4))}>Show more</button></p>`}`}
      <//>
    </section>`}function ds({change:e}){let t=T(n=>x("/v1/history",{change:e,page_size:1e3},n),["change",e]);return s`<section class="panel">
    <${K} of=${t} what="Reading the journal">
      ${({entries:n=[],missing:o,next_page_token:a})=>s`
        ${o&&s`<p class="note">The journal has forgotten a part of this change${o.semaphores?.length?`: ${o.semaphores.join(", ")}`:""}.</p>`}
        ${n.length?s`<${_t} entries=${n} onChange=${t.refresh} />`:s`<${A} title=${`The journal has no change ${e}.`} />`}
        ${a&&s`<p class="faint">Only its first 1,000 entries are shown.</p>`}
        ${n.length>0&&n[0].undoes&&s`<p><a href=${`/activity?change=${n[0].undoes}`}>The change that it undoes</a></p>`}`}
    <//>
  </section>`}var Ut="M4 14V2",Ho={idle:[Ut,"M4 4l8-2"],running:[Ut,"M4 3l9 4v-3l-9-2z"],waiting:[Ut,"M4 5h9","M8 9h1M11 9h1M14 9h0"],paused:["M5.5 3v10","M10.5 3v10"],stopping:[Ut,"M4 4h9v4H4z"],"held for an operator":["M5 7V5a3 3 0 0 1 6 0v2","M4 7h8v6H4z"],missed:["M8 2a6 6 0 1 0 .1 0z","M8 5v3.5l2.5 1.5"],denied:["M8 2a6 6 0 1 0 .1 0z","M4.5 8h7"],disabled:["M3.5 3.5l9 9","M12.5 3.5l-9 9"],cordoned:["M8 2a6 6 0 1 0 .1 0z","M4 4l8 8"]};function bn({word:e}){let t=Ho[e]??Ho.idle;return s`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${t.map(n=>s`<path d=${n} />`)}
  </svg>`}function gt({value:e,text:t}){let n=So(e);return s`<span class="state tone-${n.tone}"><${bn} word=${n.word} /><span>${t??n.word}</span></span>`}function Wo({record:e}){let t=$t(e)[0];return s`<${gt} value=${t?.value} text=${Co(e)} />`}function Ht({tone:e="idle",children:t}){return s`<span class="tag tone-${e}">${t}</span>`}var ms=()=>T(e=>x("/v1/cordons",{},e),["cordons"],{every:15e3,keep:!0});function He(){let e=ms(),[t,n]=_(null),o=e.data?.cordons??[];if(o.length===0)return null;let a=r=>D("/v1/uncordon",{id:r.id,...pe(),...At()}).then(i=>{he(`Cordon ${r.id} is ended.`,{action:{text:"Undo",run:()=>Xe(i.revision,e.refresh)}}),n(null),e.refresh()},n);return s`<section class="cordons" aria-label="Cordons in force">
    <${B} error=${t} />
    <ul>
      ${o.map(r=>s`<li key=${r.id}>
          <span class="state tone-deny"><${bn} word="cordoned" />cordoned</span>
          <span class="grow">${fn(r)}${r.reason&&`: ${r.reason}`}${r.author&&s`<span class="faint"> by ${r.author}</span>`}</span>
          <${W} role="ROLE_OPERATOR" onClick=${()=>a(r)}>End it<//>
        </li>`)}
    </ul>
  </section>`}function fs({member:e,onClose:t,onDone:n}){let[o,a]=_(null);return s`<${le} title="Hand leadership over" onClose=${t}>
    <form onSubmit=${i=>{i.preventDefault(),D("/v1/leadership:transfer",{id:e.id}).then(l=>{he(`${l.leader_id} leads.`),n(),t()},a)}}>
      <p>${e.id} becomes the leader. Permits survive; calls wait a moment.</p>
      <${B} error=${o} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Let ${e.id} lead</button></p>
    </form>
  <//>`}function hs({status:e,onChange:t}){let[n,o]=_(null);return s`<section class="panel">
    <h2>Members</h2>
    <${V}
      caption="Members"
      rows=${e.members}
      rowKey=${a=>a.id}
      columns=${[["Server",a=>s`${a.id}${a.id===e.id&&s`<span class="faint"> (answers you)</span>`}`,"name"],["Role",a=>a.leader?s`<strong class="tone-run">leader</strong>`:a.voter?"follower":"non-voter"],["API",a=>a.api_address||"–","name"],["Peers",a=>a.peer_address||"–","name"],["",a=>a.voter&&!a.leader&&s`<${W} role="ROLE_ADMIN" onClick=${()=>o(a)}>Let it lead …<//>`,"end"]]}
    />
    ${n&&s`<${fs} member=${n} onClose=${()=>o(null)} onDone=${t} />`}
  </section>`}function $s({of:e}){return s`<section class="panel">
    <h2>Certificates</h2>
    <${V}
      caption="Certificates of this server"
      rows=${e}
      empty=${s`<${A} title="This server uses no TLS." />`}
      columns=${[["Port",t=>I(t.port,"CERTIFICATE_PORT_")],["Subject",t=>t.subject||"–","name"],["Ends",t=>{if(t.error)return s`<span class="tone-deny">${t.error}</span>`;let n=Date.parse(t.not_after)-nt();return s`<span class=${n<7*864e5?"tone-deny":n<30*864e5?"tone-wait":""}>${P(t.not_after)}, ${n>0?`in ${X(n)}`:"it has ended"}</span>`}]]}
    />
  </section>`}var _s=e=>M(e)<0?`${ve(-M(e))} behind`:`${ve(M(e))} ahead`;function gs({status:e}){let t=[...(e.member_clocks??[]).map(o=>({name:`server ${o.id}`,ahead:o.ahead})),...(e.host_clocks??[]).map(o=>({name:j(o),ahead:o.ahead,seen:o.seen}))],n=e.role==="SERVER_ROLE_LEADER";return s`<section class="panel">
    <h2>Clocks</h2>
    <${V}
      caption="Clocks that are off"
      rows=${t.slice(0,100)}
      empty=${s`<${A} title=${n?"No clock is off.":"Only the leader compares clocks."} />`}
      columns=${[["Whose",o=>o.name,"name"],["Off by",o=>s`<span class="tone-stop">${_s(o.ahead)}</span>`,"num"],["Seen",o=>o.seen?s`<${ae} at=${o.seen} /> ago`:"within the last minute","num"]]}
    />
  </section>`}function vs({status:e}){let t=Number(e.work_bytes??0),n=Number(e.max_work_bytes??0);return s`<section class="panel">
    <h2>Stored for jobs</h2>
    <p class="row"><${$e} share=${n?t/n:0} label="${be(t)} of ${be(n)}" /><span class="num">${be(t)} of ${be(n)}</span></p>
    <${V}
      caption="Semaphores with jobs"
      rows=${e.work}
      empty=${s`<${A} title="There are no jobs." />`}
      columns=${[["Semaphore",o=>s`<a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=tasks`}>${o.semaphore}</a>`,"name"],["Jobs",o=>b(o.jobs),"num"],["Waiting",o=>b(o.waiting),"num"],["Running",o=>b(o.held),"num"],["Stored",o=>be(o.bytes),"num"]]}
    />
  </section>`}function bs(){let e=T(n=>x("/v1/settings",{stale:!0},n),["settings"]),t=(n,o)=>typeof o=="string"&&/s$/.test(o)?ve(M(o)):/bytes/.test(n)?be(o):b(o);return s`<section class="panel">
    <h2>Settings</h2>
    <${K} of=${e} what="Reading the settings">
      ${n=>s`<${Ce} of=${Object.entries(n.settings??{}).map(([o,a])=>[o,t(o,a)])} />
        <p class="faint">Change them with <code>gkctl cluster settings NAME=VALUE</code>.</p>`}
    <//>
  </section>`}function Ko(){ne("Cluster");let e=T(t=>x("/v1/status",{},t),["status"],{every:2e3,keep:!0});return s`<${Z}>Cluster<//>
    <${He} />
    <${K} of=${e} what="Asking this server">
      ${t=>{let n=Number(t.commit_index??0)-Number(t.applied_index??0);return s`<div class="stack">
          ${!t.leader_id&&s`<p class="failure" role="alert">There is no leader. Nothing is granted until a majority of the servers is there.</p>`}
          ${t.recovery_wait&&s`<p class="note">Nothing is granted for another ${X(M(t.recovery_wait))}: a recovery is being waited out.</p>`}
          ${t.insecure&&s`<p class="note">This server was started with --insecure: its ports may be reached without TLS and authentication.</p>`}
          ${t.denied_semaphores>0&&s`<div class="note"><p>${O(t.denied_semaphores,"semaphore is","semaphores are")} asked for in vain:</p>
            <ul>${t.denied.map(o=>s`<li key=${o.semaphore}><a href=${`/s/${encodeURIComponent(o.semaphore)}`}>${o.semaphore}</a>: ${o.text||o.message}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>Server ${t.id}</h2>
            <${Ce} of=${[["Cluster",s`<code>${t.cluster_id}</code>`],["Leader",t.leader_id||"none"],["This server is",I(t.role,"SERVER_ROLE_")||"stopping"],["Term",t.term],["Revision",t.revision],["Applied",s`${t.applied_index}${n>0&&s`<span class="tone-wait"> (${b(n)} behind)</span>`}`],["Definitions",b(t.definitions)],["Permits",b(t.permits)],["Waiters",t.role==="SERVER_ROLE_LEADER"?b(t.waiters):"the leader knows"],["Log writes",t.log_writes&&s`<span>${ve(Bo(t.log_writes.median))} median, ${ve(Bo(t.log_writes.longest))} longest, of ${b(t.log_writes.count)}</span>`],["Last snapshot",t.last_snapshot?s`${t.last_snapshot.taken_at?s`<${ae} at=${t.last_snapshot.taken_at} /> ago`:`index ${t.last_snapshot.index}`}, ${be(t.last_snapshot.bytes)}`:"none yet"],["Smallest safe duration",t.smallest_duration&&ve(M(t.smallest_duration))],["Version",t.version],["Feature level",t.feature_level],["Up for",t.uptime&&X(M(t.uptime))]]} />
          </section>
          <div class="panels">
            <${hs} status=${t} onChange=${e.refresh} />
            <${$s} of=${t.certificates} />
            <${gs} status=${t} />
            <${vs} status=${t} />
          </div>
          <${bs} />
        </div>`}}
    <//>`}var Bo=e=>+(parseFloat(e??"0")*1e3).toFixed(2);var yn=e=>e.failed?"deny":e.over?"run":I(e.state,"JOB_STATE_")==="cancelled"?"stop":"accent",wn=e=>{let t=I(e.state,"JOB_STATE_");return t==="cancelled"&&!e.over?"cancelled, some tasks still run":t},kn=e=>["waiting","held","done","failed","dropped","cancelled"].filter(t=>e[t]).map(t=>`${b(e[t])} ${t}`).join(", ");function En({job:e}){let t=e.tasks??0,n=`${b(e.done)} of ${O(t,"task","tasks")} done`;return s`<div class="job-progress">
    <${Lo}
      total=${t}
      label="${n}; ${kn(e)}"
      parts=${[[e.done??0,"run"],[e.held??0,"accent"],[e.failed??0,"deny"],[e.dropped??0,"stop"],[e.cancelled??0,"idle"]]}
    />
    <span class="num">${n}</span>
  </div>`}function xn({jobs:e}){return s`<${V}
    caption="Jobs"
    rows=${e}
    rowKey=${t=>t.submitted_revision}
    columns=${[["Job",t=>s`<a href=${`/jobs/${encodeURIComponent(t.spec.id)}`}>${t.spec.id}</a>`,"name"],["Semaphore",t=>s`<a href=${`/s/${encodeURIComponent(t.spec.semaphore)}`}>${t.spec.semaphore}</a>`,"name"],["State",t=>s`<span class="tag tone-${yn(t)}">${wn(t)}</span>`],["Progress",t=>s`<${En} job=${t} />`],["Failed",t=>t.failed?s`<strong class="tone-deny">${b(t.failed)}</strong>`:"0","num"],["Submitted",t=>s`<span title=${P(t.submitted_at)}><${ae} at=${t.submitted_at} /> ago</span>${t.spec.author&&s`<div class="sub">by ${t.spec.author}</div>`}`,"num"],["Stored",t=>be(t.bytes),"num"]]}
  />`}function zo(e){return e.away?["away","stop"]:e.draining?["draining","wait"]:e.denied&&e.denied!=="REASON_UNSPECIFIED"?[`denied: ${I(e.denied,"REASON_")}`,"deny"]:e.waiting?["waiting","wait"]:e.tasks?.length?["working","run"]:["idle","idle"]}var ys=e=>e.state==="PERMIT_STATE_HELD"?"lost: clear its slot":e.state==="PERMIT_STATE_COOLING"?`lost: cools for ${X(M(e.expires_in))}`:"";function Tn({data:e}){let t=[...e.workers??[],...e.away??[]];return s`<${V}
    caption="Workers"
    rows=${t}
    rowKey=${(n,o)=>`${n.semaphore} ${j(n.identity)} ${n.identity?.holder_id} ${o}`}
    empty=${s`<${A} title="Nobody works.">A worker is a program that takes tasks, as gkctl work does.<//>`}
    columns=${[["Worker",n=>j(n.identity),"name"],["Semaphore",n=>s`<a href=${`/s/${encodeURIComponent(n.semaphore)}`}>${n.semaphore}</a>`,"name"],["State",n=>s`<span class="tag tone-${zo(n)[1]}">${zo(n)[0]}</span>`],["Free",n=>b(n.free),"num"],["Tasks",n=>n.tasks?.length?s`<ul class="held">${n.tasks.slice(0,8).map(o=>s`<li key=${o.token}><a href=${`/jobs/${encodeURIComponent(o.job)}`}>${o.job}</a> ${b(o.index)}, for <${ae} at=${o.granted_at} />
                ${o.progress&&s` <${$e} share=${o.progress.fraction} label="${Math.round(100*(o.progress.fraction??0))} %" /> ${o.progress.text}`} ${ys(o)}</li>`)}${n.tasks.length>8&&s`<li>and ${b(n.tasks.length-8)} more</li>`}</ul>`:"–"]]}
  />`}var ws=[["","any"],["JOB_STATE_OPEN","open"],["JOB_STATE_ENDED","ended"],["JOB_STATE_CANCELLED","cancelled"],["JOB_STATE_RECEIVING","receiving"]];function ks(){let[e,t]=q(),[n,o]=we(e.get("semaphore")??"",c=>t({semaphore:c}),300),[a,r]=we(e.get("labels")??"",c=>t({labels:c}),300),i={semaphore:e.get("semaphore")??"",labels:e.get("labels")??"",states:e.getAll("state")},[l,u]=_(""),p=T(c=>x("/v1/jobs",{...i,page_size:100,page_token:l},c),["jobs",i,l],{every:2e3,keep:!0});return s`<form class="filters" role="search" onSubmit=${c=>c.preventDefault()}>
      <div class="field"><label for="job-semaphore">Semaphore</label><input id="job-semaphore" data-search value=${n} onInput=${c=>o(c.target.value)} spellcheck=${!1} /></div>
      <div class="field"><label for="job-labels">Labels</label><input id="job-labels" value=${a} onInput=${c=>r(c.target.value)} placeholder="team=billing" spellcheck=${!1} /></div>
      <${Ee} label="State" value=${e.get("state")??""} onChange=${c=>t({state:c})} options=${ws} />
    </form>
    <section class="panel">
      <${K} of=${p} what="Reading the jobs">
        ${c=>s`
          ${c.jobs?.length?s`<${xn} jobs=${c.jobs} />`:s`<${A} title="No job matches.">Jobs are submitted by programs, or with gkctl job submit.<//>`}
          <p class="row end">
            ${l&&s`<button type="button" onClick=${()=>u("")}>First page</button>`}
            ${c.next_page_token&&s`<button type="button" onClick=${()=>u(c.next_page_token)}>Next page</button>`}
          </p>`}
      <//>
    </section>`}function Es(){let e=T(t=>x("/v1/workers",{},t),["workers"],{every:2e3,keep:!0});return s`<section class="panel"><${K} of=${e} what="Reading the workers">${t=>s`<${Tn} data=${t} />`}<//></section>`}function Vo(){ne("Jobs");let[e]=q();return s`<${Z}>Jobs<//>
    <${st} of=${[["jobs","Jobs"],["workers","Workers"]]} label="Jobs and workers" />
    ${e.get("tab")==="workers"?s`<${Es} />`:s`<${ks} />`}`}function Wt({title:e,text:t,verb:n,run:o,done:a,onClose:r,onDone:i,reason:l}){let[u,p]=_(""),[c,h]=_(null),[m,d]=_(!1);return s`<${le} title=${e} onClose=${r}>
    <form onSubmit=${async g=>{if(g.preventDefault(),!m){d(!0);try{he(a(await o(u))),i(),r()}catch($){h($),d(!1)}}}}>
      <p>${t}</p>
      ${l&&s`<${F} label="Reason" value=${u} onInput=${p} maxlength="1024" />`}
      <${B} error=${c} />
      <p class="row end"><button type="button" onClick=${r}>Cancel</button><button class="primary">${m?"Working …":n}</button></p>
    </form>
  <//>`}function xs({job:e,onChange:t}){let[n,o]=_(""),{id:a,semaphore:r}=e.spec,i=I(e.state,"JOB_STATE_"),l={onClose:()=>o(""),onDone:t},u=(p,c,h)=>s`<${W} role="ROLE_OPERATOR" semaphore=${r} why=${h} onClick=${()=>o(p)}>${c}<//>`;return s`
    ${u("retry","Retry failed …",e.failed?"":"No task has failed.")}
    ${u("drop","Drop failed …",e.failed?"":"No task has failed.")}
    ${u("cancel","Cancel …",e.over?"The job is over.":i==="cancelled"?"It is cancelled already.":"")}
    ${u("delete","Delete …",e.over?"":"The job is not over. Cancel it first.")}
    ${n==="retry"&&s`<${Wt} ...${l} title="Retry failed tasks" verb="Retry" text=${`${O(e.failed,"failed task is","failed tasks are")} handed out again.`}
      run=${()=>D(oe`/v1/jobs/${a}:retry`,{as_of:e.revision})} done=${p=>`${O(p.tasks??0,"task","tasks")} handed out again.`} />`}
    ${n==="drop"&&s`<${Wt} ...${l} title="Drop failed tasks" verb="Drop" text=${`${O(e.failed,"failed task is","failed tasks are")} given up. They cannot be retried.`}
      run=${()=>D(oe`/v1/jobs/${a}:drop`,{as_of:e.revision})} done=${p=>`${O(p.tasks??0,"task","tasks")} dropped.`} />`}
    ${n==="cancel"&&s`<${Wt} ...${l} title=${`Cancel ${a}`} verb="Cancel the job" reason
      text=${`${O(e.waiting??0,"waiting task is","waiting tasks are")} not executed, and ${O(e.held??0,"running task stops","running tasks stop")}.`}
      run=${p=>D(oe`/v1/jobs/${a}:cancel`,{reason:p,submitted_revision:e.submitted_revision,...pe()})} done=${()=>`${a} is cancelled.`} />`}
    ${n==="delete"&&s`<${Wt} ...${l} title=${`Delete ${a}`} verb="Delete the job" text="The job is removed with its results."
      run=${()=>Qe("DELETE",oe`/v1/jobs/${a}`,{query:{submitted_revision:e.submitted_revision}})} done=${()=>`${a} is deleted.`} onDone=${()=>ge("/jobs")} />`}`}var Jo={waiting:"idle",held:"accent",done:"run",failed:"deny",dropped:"stop",cancelled:"stop"},Ts=[["","any"],...Object.keys(Jo).map(e=>[e,e])];function Ss({job:e,index:t,onClose:n}){let o=T(a=>x(oe`/v1/jobs/${e}/tasks`,{from:t,page_size:1,payloads:!0,results:!0},a),["task",e,t]);return s`<${le} title=${`Task ${t} of ${e}`} onClose=${n} wide>
    <${K} of=${o} what="Reading the task">
      ${a=>{let r=a.tasks?.[0];return r?s`<${Ce} of=${[["State",I(r.state,"TASK_STATE_")],["Attempts",b(r.attempts)],["Worker",r.worker&&j(r.worker)],["Token",r.token],["Returned unfinished",r.returns]]} />
          ${r.failure&&s`<h3>Failure</h3><pre>${r.failure}</pre>`}
          <h3>Payload</h3><pre>${cn(r.payload)||"(none)"}</pre>
          <h3>Result</h3><pre>${cn(r.result)||"(none)"}</pre>`:s`<${A} title="There is no such task." />`}}
    <//>
  <//>`}function Cs({id:e,round:t}){let[n,o]=q(),a=n.get("task")??"",[r,i]=_(0),[l,u]=_(null),p={states:a?[`TASK_STATE_${a.toUpperCase()}`]:[],from:r,page_size:100},c=T(h=>x(oe`/v1/jobs/${e}/tasks`,p,h),["tasks",e,p,t],{keep:!0});return s`<section class="panel">
    <div class="title"><h2>Tasks</h2>
      <${Ee} label="In state" value=${a} onChange=${h=>(i(0),o({task:h}))} options=${Ts} /></div>
    <${K} of=${c} what="Reading the tasks">
      ${h=>s`<${V}
          caption="Tasks"
          rows=${h.tasks}
          rowKey=${m=>m.index??0}
          empty=${s`<${A} title="No task is in that state." />`}
          columns=${[["Task",m=>s`<button type="button" class="plain" onClick=${()=>u(m.index??0)}>${b(m.index)}<span class="sr-only">: show payload and result</span></button>`,"num"],["State",m=>s`<span class="tag tone-${Jo[I(m.state,"TASK_STATE_")]}">${I(m.state,"TASK_STATE_")}</span>`],["Attempts",m=>b(m.attempts),"num"],["Worker",m=>m.worker?j(m.worker):"–","name"],["Progress",m=>m.progress?s`<${$e} share=${m.progress.fraction} label=${`${Math.round(100*(m.progress.fraction??0))} %`} /> ${m.progress.text}`:"–"],["Failure",m=>m.failure||"–"]]}
        />
        <p class="row end">
          ${r>0&&s`<button type="button" onClick=${()=>i(0)}>First page</button>`}
          ${h.next>0&&s`<button type="button" onClick=${()=>i(h.next)}>Next page</button>`}
        </p>`}
    <//>
    ${l!==null&&s`<${Ss} job=${e} index=${l} onClose=${()=>u(null)} />`}
  </section>`}function Go({name:e}){ne(e);let t=T(p=>x(oe`/v1/jobs/${e}`,{},p),["job",e],{every:15e3}),[n,o]=_(0),a=Ie(()=>o(p=>p+1),1e3),[r,i]=_(null),l=()=>{t.refresh(),a(),i(null)},u=t.data?.job;return E(()=>{u&&!u.over&&r===null&&i(u.revision)},[u?.over,r]),Se(r!==null?oe`/v1/jobs/${e}:follow`:null,{after_revision:r},{message(p){p.job&&t.set(()=>({job:p.job})),a()},end:l}),t.error?.code==="NOT_FOUND"?s`<${Z}>${e}<//><${A} title="There is no job of this id.">It may have been deleted, or kept for its time. <a href="/jobs">All jobs</a><//>`:u?s`<${Z} aside=${s`<${xs} job=${u} onChange=${l} />`}>${e}<//>
    <div class="stack">
      <section class="panel stack">
        <p class="row"><span class="tag tone-${yn(u)}">${wn(u)}</span><span>${kn(u)}</span></p>
        <${En} job=${u} />
        ${u.cancel_text&&s`<p class="note">Cancelled ${u.cancel_text}</p>`}
        <${Ce} of=${[["Semaphore",s`<a href=${`/s/${encodeURIComponent(u.spec.semaphore)}`}>${u.spec.semaphore}</a>`],["Submitted",`${P(u.submitted_at)}${u.spec.author?` by ${u.spec.author}`:""}`],["Ended",u.ended_at&&`${P(u.ended_at)}, after ${X(Date.parse(u.ended_at)-Date.parse(u.submitted_at))}`],["Priority",u.spec.priority],["Attempts of a task",u.spec.max_attempts],["Timeout",Ye(u.spec.timeout)],["Kept after its end",Ye(u.spec.retention)],["Stored",be(u.bytes)],["Labels",Object.entries(u.spec.labels??{}).map(([p,c])=>`${p}=${c}`).join(", ")]]} />
      </section>
      <${Cs} id=${e} round=${n} />
    </div>`:s`<${Z}>${e}<//>${t.error&&!t.error.offline?s`<${B} error=${t.error} retry=${t.refresh} />`:s`<${ye} what="Reading the job" />`}`}function Qo(){ne("Log in");let[e]=q(),[t,n]=_(""),[o,a]=_(null),[r,i]=_(!1),l=e.get("next")??"/";return s`<div class="login">
    <img src="/assets/icon.svg" alt="" width="48" height="48" />
    <${Z}>Log in to Gatekeeper<//>
    <form onSubmit=${async p=>{p.preventDefault(),i(!0);try{await fo(t.trim()),ge(/^\/(?![/\\])/.test(l)?l:"/",{replace:!0})}catch(c){a(c),i(!1)}}}>
      <${F}
        label="Bearer token"
        help="From gkctl auth token create. It stays in this browser as a cookie that scripts cannot read, for 12 hours."
        type="password"
        autocomplete="current-password"
        value=${t}
        onInput=${n}
        required
        autofocus
      />
      ${o&&s`<${B} error=${o.status===401?{message:"The servers do not know this token. It may have ended, or been revoked."}:o} />`}
      <p class="row end"><button class="primary" disabled=${r||!t.trim()}>${r?"Asking …":"Log in"}</button></p>
    </form>
  </div>`}function Yo({change:e,effects:t,onEnd:n}){let o=fe(()=>t.flatMap(f=>f.stopped??[]),[t]),a=fe(()=>Date.now(),[e]),[r,i]=_({});Ae();let l=o.filter(f=>!r[f.permit.token]),u=[...new Set(l.map(f=>f.permit.semaphore))],p=fe(()=>u.length<=40?u:[],[e]),c=f=>f.length&&i(g=>({...Object.fromEntries(f),...g})),h=async()=>{let{items:f}=await ke("/v1/holders",{names:p},"permits",void 0,1e5),g=new Map(f.map($=>[$.token,$]));c(o.filter($=>!g.has($.permit.token)).map($=>[$.permit.token,{how:"gone",after:Date.now()-a}]))};if(Se(o.length?"/v1/watch":null,{names:p,permits:!0,from_revision:String(BigInt(e)+1n)},{message({events:f=[]}){let g=new Set(o.map($=>$.permit.token));c(f.filter($=>$.permit&&g.has($.permit.token)&&$.ended).map($=>[$.permit.token,{how:I($.ended,"PERMIT_END_"),after:Date.now()-a}]))},missed:()=>h().catch(()=>{})}),E(()=>{o.length&&l.length===0&&n?.()},[l.length]),o.length===0)return s`<p class="lead">No holder had to stop.</p>`;let m=l.filter(f=>Date.now()-a>M(f.free_within)),d=o.length-l.length;return s`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${l.length===0?`${O(o.length,"holder has","holders have")} stopped.`:`${b(d)} of ${O(o.length,"holder has","holders have")} stopped.`}
      ${m.length>0&&s` <strong>${O(m.length,"holder","holders")} did not stop in time.</strong>`}
    </p>
    <${$e} share=${d/o.length} tone=${m.length?"stop":"run"} label=${`${d} of ${o.length} stopped`} />
    <${V}
      caption="Holders that must stop"
      rows=${[...m,...l.filter(f=>!m.includes(f)),...o.filter(f=>r[f.permit.token])].slice(0,600)}
      rowKey=${f=>f.permit.token}
      columns=${[["Semaphore",f=>s`<a href=${`/s/${encodeURIComponent(f.permit.semaphore)}`}>${f.permit.semaphore}</a>`,"name"],["Holder",f=>j(f.permit.identity),"name"],["Token",f=>f.permit.token,"num"],["Now",f=>{let g=r[f.permit.token];if(g)return s`<span class="tone-run">${g.how} after ${X(g.after)}</span>`;let $=a+M(f.free_within)-Date.now();return $>0?s`<span class="tone-wait">stops within <span class="num">${ot($)}</span></span>`:s`<span class="tone-deny">did not stop in time</span>`}]]}
    />
  </section>`}function We({lasts:e,until:t}){return e?.trim()?{lasts:Te(e)}:t?{until:new Date(t).toISOString()}:{}}var Re=e=>e?.trim()?{drain:Te(e)}:{};function Be(e){try{return e(),""}catch(t){return t.message}}function Ze({value:e,set:t,without:n="It stays until somebody ends it."}){return s`<${F}
      label="For"
      placeholder="2h"
      value=${e.lasts??""}
      onInput=${o=>t({...e,lasts:o,until:""})}
      error=${Be(()=>Te(e.lasts??""))}
      help=${`As 30m or 2h. ${n}`}
    />
    <${F} label="Or until" type="datetime-local" value=${e.until??""} onInput=${o=>t({...e,until:o,lasts:""})} />`}function Ke({value:e,set:t}){return s`<${F}
    label="Drain"
    placeholder="2m"
    value=${e.drain??""}
    onInput=${n=>t({...e,drain:n})}
    error=${Be(()=>Te(e.drain??""))}
    help="How long holders that must stop may continue. Empty: their next refresh is refused."
  />`}var De=100;function et(e){let t=JSON.stringify(e),n=G(Le),[,o]=_(0),a=()=>o(h=>h+1),r=fe(()=>({pages:new Map,asked:new Map,tokens:[""],total:void 0,window:[0,30],skips:et.skips}),[t]),i=Q(r);i.current=r;let l=(h,m)=>{if(!m&&(r.pages.has(h)||r.asked.has(h))||!r.skips&&r.tokens[h]===void 0)return;r.asked.get(h)?.abort();let d=new AbortController;r.asked.set(h,d);let f=r.skips?{skip:h*De}:{page_token:r.tokens[h]};x("/v1/definitions",{...e,page_size:De,...f},d.signal).then(g=>{if(i.current!==r)return;r.asked.delete(h),r.error=void 0;let $=g.records??[];r.pages.set(h,$),g.total===void 0&&$.length>0&&(r.skips=et.skips=!1),g.total!==void 0?r.total=g.total:g.next_page_token?(r.tokens[h+1]=g.next_page_token,r.total=Math.max(r.total??0,(h+1)*De+1),r.more=!0):(r.total=h*De+$.length,r.more=!1),a(),u(...r.window)},g=>{if(!(d.signal.aborted||i.current!==r)){if(r.asked.delete(h),r.skips&&g.status===400&&/skip|search|parameter/i.test(g.message))return r.skips=et.skips=!1,l(0,!0);r.error=g,a()}})},u=(h,m)=>{r.window=[h,m];let d=Math.floor(h/De),f=Math.floor(Math.max(h,m-1)/De);for(let[g,$]of r.asked)r.skips&&(g<d-1||g>f+1)&&($.abort(),r.asked.delete(g));if(!r.skips){let g=r.pages.size;f>=g&&l(g);return}for(let g=d;g<=f;g++)l(g)},p=()=>{let[h,m]=r.window,d=new Set;for(let f=Math.floor(h/De);f<=Math.floor(Math.max(h,m-1)/De);f++)d.add(f);if(r.skips)for(let f of[...r.pages.keys()])d.has(f)||r.pages.delete(f);for(let f of d)l(f,!0)},c=Q(p);return c.current=p,E(()=>(l(0),()=>r.asked.forEach(h=>h.abort())),[t]),E(()=>{n&&c.current()},[n]),E(()=>{let h=setInterval(()=>document.hidden||c.current(),15e3);return()=>clearInterval(h)},[]),{at:h=>r.pages.get(Math.floor(h/De))?.[h%De],total:r.total,more:r.more,error:r.error,want:u,refresh:p,update(h){let m=new Map(h.map(d=>[d.definition.name,d]));for(let d of r.pages.values())d.forEach((f,g)=>{let $=m.get(f.definition.name);$&&(d[g]=$)});a()}}}et.skips=!0;var Xo=8,Bt=4;function Zo({total:e,height:t,row:n,range:o,open:a,label:r,head:i,columns:l}){let u=Q(null),[p,c]=_([0,30]),[h,m]=_(0),d=Q(!1);ut(()=>{let k=0,Y=()=>{k=0;let ie=u.current?.getBoundingClientRect();if(!ie)return;let w=Math.max(0,Math.floor(-ie.top/t/Bt)*Bt-Xo),R=Math.min(e,Math.ceil((innerHeight-ie.top)/t/Bt)*Bt+Xo);c(U=>U[0]===w&&U[1]===R?U:[w,Math.max(w,R)])},re=()=>k||=requestAnimationFrame(Y);Y(),addEventListener("scroll",re,{passive:!0}),addEventListener("resize",re);let J=new ResizeObserver(re);return J.observe(document.body),()=>{cancelAnimationFrame(k),removeEventListener("scroll",re),removeEventListener("resize",re),J.disconnect()}},[e,t]),E(()=>{o?.(p[0],p[1])},[p[0],p[1],e]),ut(()=>{if(!d.current)return;let k=u.current?.querySelector(`[data-row="${h}"]`);k&&(d.current=!1,k.focus({preventScroll:!0}),k.scrollIntoView({block:"nearest"}))});let f=Math.min(h,Math.max(0,e-1)),g=k=>{if(e===0)return;d.current=!0,m(Math.max(0,Math.min(e-1,k)));let Y=u.current.getBoundingClientRect().top+scrollY+k*t;(Y<scrollY||Y>scrollY+innerHeight)&&scrollTo(0,Math.max(0,Y-innerHeight/2))},$=Math.max(1,Math.floor(innerHeight/t)-4),C={ArrowDown:()=>g(f+1),ArrowUp:()=>g(f-1),PageDown:()=>g(f+$),PageUp:()=>g(f-$),Home:()=>g(0),End:()=>g(e-1),Enter:()=>a?.(f)},y=k=>{!C[k.key]||k.ctrlKey||k.metaKey||k.altKey||k.key==="Enter"&&k.target.tagName==="A"||(k.preventDefault(),C[k.key]())},L=k=>{let Y=k.target.closest("[data-row]");Y&&m(Number(Y.dataset.row))};E(()=>{let k=()=>g(f);return addEventListener("enter-list",k),()=>removeEventListener("enter-list",k)});let N=[];for(let k=p[0];k<Math.min(p[1],e);k++)N.push(k);return e>0&&(f<p[0]||f>=p[1])&&N.push(f),s`<div class="grid" role="grid" aria-label=${r} aria-rowcount=${e+1} aria-colcount=${l} onKeyDown=${y} onFocusIn=${L}>
    <div class="grid-head" role="row" aria-rowindex="1">${i}</div>
    <div class="grid-body" role="rowgroup" ref=${u} style=${{height:`${e*t}px`}}>
      ${N.map(k=>s`<div
          key=${k}
          class="grid-row"
          role="row"
          aria-rowindex=${k+2}
          data-row=${k}
          tabindex=${k===f?0:-1}
          style=${{transform:`translateY(${k*t}px)`,height:`${t}px`}}
        >${n(k)}</div>`)}
    </div>
  </div>`}function Rn(e){return{search:e.get("q")??"",group:e.get("group")??"",labels:e.get("labels")??"",states:e.getAll("state").map(t=>`DEFINITION_STATE_${t.toUpperCase()}`)}}var Rs=e=>{if(et.skips||!e.search)return e;let{search:t,...n}=e;return{...n,names:[`*${t.trim()}*`]}},Sn=e=>e.value.slice(17).toLowerCase();function Ds({counts:e,total:t}){let[n,o]=q(),a=n.getAll("state"),r=i=>o({state:a.includes(i)?a.filter(l=>l!==i):[...a,i]});return s`<div class="states" role="group" aria-label="Filter by state">
    <button type="button" class="stat" aria-pressed=${a.length===0} onClick=${()=>o({state:""})}>
      <span class="stat-n num">${t===void 0?"–":b(t)}</span><span class="stat-w">all</span>
    </button>
    ${Ft.map(i=>{let l=e?.get(i.value);return s`<button
        type="button"
        key=${i.value}
        class="stat ${e&&!l?"zero":""} tone-${i.tone}"
        aria-pressed=${a.includes(Sn(i))}
        title=${i.help}
        onClick=${()=>r(Sn(i))}
      >
        <span class="stat-n num">${e?b(l):"–"}</span><span class="stat-w"><${gt} value=${i.value} text=${Sn(i)} /></span>
      </button>`})}
  </div>`}var Os=e=>/[,=!()"]/.test(e)?`"${e.replaceAll('"','\\"')}"`:e;function As({labels:e}){let[t,n]=q(),o=t.get("labels")??"",[a,r]=we(o,c=>n({labels:c}),400),[i,l]=_(""),u=e?.find(c=>c.key===i)?.values??[],p=c=>{c&&(n({labels:[o,c==="*"?i:`${i}=${Os(c)}`].filter(Boolean).join(",")}),l(""))};return s`<div class="field">
      <label for="labels">Labels</label>
      <input id="labels" value=${a} placeholder="team=data,tier!=test" onInput=${c=>r(c.target.value)} autocomplete="off" spellcheck=${!1} />
    </div>
    ${e?.length>0&&s`<${Ee} label="Add a label" value=${i} onChange=${l} options=${[["","Label …"],...e.map(c=>[c.key,c.key])]} />
      ${i&&s`<${Ee} label="Value" value="" onChange=${p} options=${[["","Value …"],["*","any value"],...u.map(c=>[c.value,`${c.value} (${b(c.count)})`])]} />`}`}`}function Is({summary:e,shown:t}){let[n,o]=q(),[a,r]=we(n.get("q")??"",m=>o({q:m})),[i,l]=we(n.get("group")??"",m=>o({group:m}),400),u=["q","group","labels","state"].filter(m=>n.get(m)),p=e?.groups??[],c=Pt("(min-width: 60rem)");return s`<form class="filters" role="search" onSubmit=${m=>m.preventDefault()}>
    <div class="field grow">
      <label for="search">Search <kbd aria-hidden="true">/</kbd></label>
      <input id="search" type="search" data-search value=${a} placeholder="Words of name, description or label" onInput=${m=>r(m.target.value)} onKeyDown=${m=>{m.key!=="ArrowDown"&&m.key!=="Enter"||(m.preventDefault(),dispatchEvent(new Event("enter-list")))}} autocomplete="off" spellcheck=${!1} />
    </div>
    <details class="more-filters" open=${c||u.some(m=>m==="group"||m==="labels")}>
      <summary>Filters</summary>
      <div class="filters-in">
        <div class="field">
          <label for="group">Lets in group</label>
          <input id="group" value=${i} list="groups" placeholder="any" onInput=${m=>l(m.target.value)} autocomplete="off" spellcheck=${!1} />
          <datalist id="groups">${p.map(m=>s`<option value=${m.value??m.group??m} />`)}</datalist>
        </div>
        <${As} labels=${e?.labels} />
      </div>
    </details>
    <p class="row filters-end">
      <span class="num" role="status">${t}</span>
      ${u.length>0&&s`<button type="button" onClick=${()=>o({q:"",group:"",labels:"",state:""})}>Clear the filters</button>`}
      <a class="button" href=${`/move?${new URLSearchParams([...n,["from_filter","1"]])}`}>Move or pause these</a>
    </p>
  </form>`}var Cn=["State","Semaphore","In use","Holder","Time left","Queue","Lets in group"];function Ns({record:e,permits:t,live:n}){if(!e)return s`<span class="row-loading" role="gridcell" aria-colspan=${Cn.length}>Reading …</span>`;let o=e.definition,a=t?.[0],r=(e.holders??0)-1,i=jt(e)[0],l=`/s/${encodeURIComponent(o.name)}`,u=Number(e.used??0),p=o.permits??0,c=n?.waiters??e.waiters??0;return s`
    <span class="c-state" role="gridcell"><${Wo} record=${e} /></span>
    <span class="c-name" role="rowheader">
      <a href=${l} tabindex="-1">${o.name}</a>
      <span class="sub">${i??o.description??""}</span>
    </span>
    <span class="c-used num" role="gridcell">
      <${$e} share=${p?u/p:u?1:0} tone=${u>p?"deny":"accent"} label="${u} of ${p} permits in use" />
      <span>${b(u)}<span class="faint"> / ${b(p)}</span></span>
    </span>
    <span class="c-holder" role="gridcell">
      ${a?s`<span class="clip">${j(a.identity)}</span><span class="sub">for <${ae} at=${a.granted_at} />${r>0&&` and ${b(r)} more`}</span>`:r>=0?s`<span class="sub">${O(r+1,"holder","holders")}</span>`:s`<span class="faint">–</span>`}
    </span>
    <span class="c-left" role="gridcell">${a?s`<${qt} at=${a.deadline} of=${M(a.duration)} />`:s`<span class="faint">–</span>`}</span>
    <span class="c-queue num" role="gridcell">${c?s`<span class="tag tone-wait">${b(c)}</span>`:s`<span class="faint">0</span>`}</span>
    <span class="c-group" role="gridcell"><code class="clip">${o.group_pattern}</code></span>`}var Ms=6e3;function er(){ne("Overview");let[e]=q(),t=Rn(e),n=et(Rs(t)),o=Pt("(max-width: 47.99rem)"),a=Pt("(max-width: 63.99rem)"),r=o?104:a?76:52,[i,l]=_(!0),u=T(i?w=>x("/v1/definitions:summarize",{},w):null,["summary"],{every:15e3,keep:!0});E(()=>{u.error?.status===404&&l(!1)},[u.error]);let p=fe(()=>u.data&&new Map((u.data.states??[]).map(w=>[w.state,w.count])),[u.data]),[c,h]=_(new Map),[m,d]=_(new Map),[f,g]=_([]),$=Q(new Set),C=Q([0,0]),y=Ie(()=>{let[w,R]=C.current,U=[],v=0;for(let H=w;H<R&&v<Ms;H++){let S=n.at(H)?.definition.name;S&&(U.push(S),v+=S.length+8)}g(H=>H.join(`
`)===U.join(`
`)?H:U)},150),L=(w,R)=>{C.current=[w,R],n.want(w,R),y()};E(y);let N=async(w,R)=>{let U=Date.now(),{items:v}=await ke("/v1/holders",{names:w},"permits",R),H=new Map(w.map(S=>[S,[]]));for(let S of v)H.get(S.semaphore)?.push({...S,deadline:S.expires_in?U+M(S.expires_in):0});h(S=>new Map([...S,...H]))},k=Ie(async()=>{let w=[...$.current];if($.current.clear(),w.length===0)return;let[R]=await Promise.all([x("/v1/definitions",{names:w,page_size:1e3}),N(w)]).catch(()=>[]);R&&n.update(R.records??[])},40);E(()=>{if(f.length===0)return;let w=new AbortController;N(f,w.signal).catch(()=>{});let R=setInterval(()=>{document.hidden||(f.forEach(U=>$.current.add(U)),k())},5e3);return()=>{w.abort(),clearInterval(R)}},[f]);let Y=()=>{f.forEach(w=>$.current.add(w)),k()};Se(f.length?"/v1/watch":null,{names:f,permits:!0,live_every:"1s"},{open:w=>w&&Y(),missed:Y,message({events:w=[]}){for(let R of w)R.semaphore&&$.current.add(R.semaphore);k()},live(w){let R=(w.live??w).semaphores??[],U=Date.now();d(new Map(R.map(v=>[v.semaphore,v]))),h(v=>{let H=new Map(v);for(let S of R){let ce=new Map((S.deadlines??[]).map(_e=>[_e.token,U+M(_e.expires_in)])),tt=H.get(S.semaphore);tt&&H.set(S.semaphore,tt.map(_e=>ce.has(_e.token)?{..._e,deadline:ce.get(_e.token)}:_e))}return H})}});let re=w=>{let R=n.at(w);R&&ge(`/s/${encodeURIComponent(R.definition.name)}`)},J=n.total,ie=J===void 0?"…":`${n.more?"more than ":""}${O(n.more?J-1:J,"semaphore","semaphores")}`;return s`<${Z} aside=${s`<${Ls} />`}>Overview<//>
    <${He} />
    <${Ds} counts=${p} total=${u.data?.total} />
    <${Is} summary=${u.data} shown=${ie} />
    ${n.error&&!n.error.offline&&s`<${B} error=${n.error} retry=${n.refresh} />`}
    ${J===void 0?!n.error&&s`<${ye} what="Reading the semaphores" />`:J===0?s`<${Ps} filtered=${[...e].length>0} />`:s`<${Zo}
            label="Semaphores"
            total=${J}
            height=${r}
            columns=${Cn.length}
            range=${L}
            open=${re}
            head=${Cn.map(w=>s`<span role="columnheader">${w}</span>`)}
            row=${w=>{let R=n.at(w),U=R?.definition.name;return s`<${Ns} record=${R} permits=${c.get(U)} live=${m.get(U)} />`}}
          />`}`}function Ls(){let[e,t]=_(!1),[n,o]=_("");return s`<${W} role="ROLE_EDITOR" onClick=${()=>t(!0)}>New semaphore …<//>
    ${e&&s`<${le} title="New semaphore" onClose=${()=>t(!1)}>
      <form onSubmit=${r=>{r.preventDefault(),n.trim()&&ge(`/s/${encodeURIComponent(n.trim())}?tab=rule`)}}>
        <${F} label="Name" value=${n} onInput=${o} maxlength="256" required help="As callers ask for it. It cannot be changed later." />
        <p class="row end"><button type="button" onClick=${()=>t(!1)}>Cancel</button><button class="primary">Write its rule …</button></p>
      </form>
    <//>`}`}function Ps({filtered:e}){return e?s`<${A} title="No semaphore matches.">Remove a filter to see more.<//>`:s`<${A} title="There are no semaphores yet.">Create the first one with <code>gkctl apply -f FILE</code>, or give gatekeeperd a file by <code>--definitions</code>.<//>`}var Fs=[["move","Move"],["pause","Pause"],["resume","Resume"],["cordon","Cordon"]],tr=e=>e.split(/[\n,]/).map(t=>t.trim()).filter(Boolean);function or(){let[e,t]=q(),[n,o]=_(e.getAll("names").join(`
`)),[a,r]=_(e.get("labels")??""),[i,l]=_(e.get("all")==="1"),[u,p]=_(null),c=Rn(e),h=e.get("from_filter")==="1"&&(c.search||c.group||c.states.length>0);E(()=>{h&&ke("/v1/definitions",c,"records",void 0,1e3).then(({items:d,more:f})=>{o(d.map(g=>g.definition.name).join(`
`)),r(""),t({q:"",group:"",state:"",labels:"",from_filter:""}),f&&p(new Error("More than 1,000 semaphores match. Only the first 1,000 are listed here; choose by a label or a glob instead."))},p)},[]);let m=i?{all:!0}:{...tr(n).length&&{names:tr(n)},...a.trim()&&{labels:a.trim()}};return{names:n,setNames:o,labels:a,setLabels:r,everything:i,setEverything:l,selector:m,error:u,given:i||n.trim()!==""||a.trim()!==""}}function rr({of:e,optional:t}){let n=T(e.given?r=>x("/v1/definitions",{names:e.selector.names,labels:e.selector.labels,page_size:200},r):null,["chosen",e.selector],{keep:!0}),o=n.data?.records??[],a=n.data?.total??(n.data?.next_page_token?void 0:o.length);return s`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${F} label="Names" area=${4} value=${e.names} onInput=${e.setNames} disabled=${e.everything} placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${F} label="Labels" value=${e.labels} onInput=${e.setLabels} disabled=${e.everything} placeholder="team=data,tier!=test" help="Names and labels must both match." />
      <${se} label="Every semaphore" checked=${e.everything} onChange=${e.setEverything} />
    </div>
    ${e.error&&s`<${B} error=${e.error} />`}
    ${n.error&&!n.error.offline&&s`<${B} error=${n.error} />`}
    <p role="status" class="faint">
      ${e.given?n.data?`${a===void 0?"more than 200 semaphores":O(a,"semaphore","semaphores")} chosen${o.length?`: ${Fe(o.map(r=>r.definition.name),4).replace(/ and .*/,"")}${o.length>4?" …":""}`:""}`:"Reading …":t??"Choose some, or every one."}
    </p>
  </fieldset>`}function Dn({of:e,onAgain:t}){return s`<section class="panel stack" aria-label="What was done">
    <h2>${e.text}</h2>
    <${Yo} key=${e.change} change=${e.change} effects=${e.effects} />
    <p class="row">
      <a class="button" href=${`/activity?change=${e.change}`}>Change ${e.change}</a>
      <${W} role=${e.role} onClick=${()=>Xe(e.change)}>Undo …<//>
      <button type="button" onClick=${t}>Another one</button>
    </p>
  </section>`}function On(){let[e,t]=_(null);return[e,(o,a)=>(r,i)=>{let l=r.change??r.revision??r.cordon?.revision;l&&l!=="0"&&t({text:o,role:a,change:l,effects:r.effects?.length?r.effects:i.effects??[]})},()=>t(null)]}function sr({id:e}){let t=T(o=>ke("/v1/known",{},"callers",o,5e3),["known"]),n=[...new Set((t.data?.items??[]).map(o=>o.group))].sort();return s`<datalist id=${e}>${n.map(o=>s`<option value=${o} />`)}</datalist>`}function js({of:e}){let t=(e.not_moved??[]).filter(o=>o.problem),n=(e.not_moved??[]).length-t.length;return s`
    <p class="lead">${e.moves?.length?`${O(e.moves.length,"semaphore moves","semaphores move")}.`:e.mistake?"":"There is nothing to move."}${n>0&&s`<span class="faint"> ${b(n)} need no move.</span>`}</p>
    ${e.mistake&&s`<p class="note">${e.mistake}</p>`}
    ${e.doubts?.length>0&&s`<div class="failure" role="alert"><p class="failure-text">This move is likely a mistake.</p><ul>${e.doubts.map(o=>s`<li>${o}</li>`)}</ul></div>`}
    ${t.length>0&&s`<div class="warnings"><p>${O(t.length,"semaphore has","semaphores have")} to be moved by hand:</p>
      <ul>${t.slice(0,20).map(o=>s`<li><a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=rule`}>${o.semaphore}</a>: ${o.why}</li>`)}</ul></div>`}`}function qs(){let e=or(),[t]=q(),[n,o]=_({from:t.get("from")??"",to:t.get("to")??"",drain:""}),[a,r]=_(!1),[i,l,u]=On(),p=()=>({selector:e.given?e.selector:{all:!0},from_group:n.from.trim(),to_group:n.to.trim(),...Re(n.drain),...pe()}),c=!n.from.trim()||!n.to.trim()?"Say from which group to which.":Be(()=>Re(n.drain));return i?s`<${Dn} of=${i} onAgain=${u} />`:s`<form class="stack" onSubmit=${h=>(h.preventDefault(),c||r(!0))}>
    <fieldset class="panel">
      <legend>From where to where</legend>
      <div class="form">
        <${F} label="From group" value=${n.from} onInput=${h=>o({...n,from:h})} list="move-groups" required />
        <${F} label="To group" value=${n.to} onInput=${h=>o({...n,to:h})} list="move-groups" required />
        <${Ke} value=${n} set=${o} />
        <${sr} id="move-groups" />
      </div>
    </fieldset>
    <${rr} of=${e} optional="Every semaphore that admits the old group, and not the new one. Choose fewer by names or labels." />
    <p class="row end"><${W} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>Preview the move …<//></p>
    ${a&&s`<${me}
      title=${`Move from ${n.from} to ${n.to}`}
      verb=${h=>`Move ${O(h.moves?.length??0,"semaphore","semaphores")}`}
      role="ROLE_OPERATOR"
      preview=${async h=>D("/v1/move",{...p(),dry_run:!0},h)}
      extra=${h=>s`<${js} of=${h} />`}
      nothing=${h=>h.moves?.length?"":h.mistake||"There is nothing to move."}
      run=${async(h,m)=>D("/v1/move",{...p(),expected:m.digest,...h})}
      done=${h=>`${O(h.moves?.length??0,"semaphore","semaphores")} moved from ${n.from} to ${n.to}.`}
      onDone=${l(`Moved from ${n.from} to ${n.to}`,"ROLE_OPERATOR")}
      onClose=${()=>r(!1)}
    />`}
  </form>`}function nr({resume:e}){let t=or(),[n,o]=_({lasts:"",until:"",stop:!1,drain:"",keep:!0}),[a,r]=_(!1),[i,l,u]=On(),p=()=>e?{selector:t.selector}:{selector:t.selector,...We(n),...n.keep&&{keep_paused:!0},...n.stop&&{stop:!0,...Re(n.drain)}},c=t.given?Be(()=>(We(n),Re(n.drain))):"Choose some semaphores first.";if(i)return s`<${Dn} of=${i} onAgain=${u} />`;let h=e?"resume":"pause";return s`<form class="stack" onSubmit=${m=>(m.preventDefault(),c||r(!0))}>
    <${rr} of=${t} />
    ${!e&&s`<fieldset class="panel">
      <legend>How long, and what becomes of running work</legend>
      <div class="form">
        <${Ze} value=${n} set=${o} without="Empty: until it is resumed." />
        <${se} label="Stop holders too" checked=${n.stop} onChange=${m=>o({...n,stop:m})} help="Otherwise running work continues to its end." />
        ${n.stop&&s`<${Ke} value=${n} set=${o} />`}
        <${se} label="Leave paused ones as they are" checked=${n.keep} onChange=${m=>o({...n,keep:m})} help="Otherwise this pause replaces theirs, also when it ends." />
      </div>
    </fieldset>`}
    <p class="row end"><${W} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>${e?"Preview …":"Preview the pause …"}<//></p>
    ${a&&s`<${me}
      title=${e?"Resume":"Pause"}
      verb=${e?"Resume":"Pause"}
      role="ROLE_OPERATOR"
      preview=${async m=>D("/v1/preview",{[h]:p()},m)}
      run=${async(m,d)=>D(`/v1/${h}`,{...p(),expected:d.digest,...m})}
      done=${m=>`${O(m.names?.length??0,"semaphore","semaphores")} ${h}d.`}
      onDone=${(m,d)=>l(`${O(m.names?.length??0,"semaphore","semaphores")} ${h}d`,"ROLE_OPERATOR")(m,d)}
      onClose=${()=>r(!1)}
    />`}
  </form>`}function Us(){let[e]=q(),[t,n]=_({group:e.get("group")??"",acquirer:e.get("acquirer")??"",lasts:"",until:"",drain:""}),[o,a]=_(!1),[r,i,l]=On(),u=()=>({...t.group.trim()&&{group_pattern:t.group.trim()},...t.acquirer.trim()&&{acquirer_pattern:t.acquirer.trim()},...We(t),...Re(t.drain)}),p=!t.group.trim()&&!t.acquirer.trim()?"Say whom to shut out.":Be(()=>u());return r?s`<${Dn} of=${r} onAgain=${l} />`:s`<form class="stack" onSubmit=${c=>(c.preventDefault(),p||a(!0))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is patched.</p>
    <fieldset class="panel">
      <legend>Whom, and for how long</legend>
      <div class="form">
        <${F} label="Group pattern" value=${t.group} onInput=${c=>n({...t,group:c})} list="cordon-groups" help="A caller is caught when either pattern matches." />
        <${F} label="Acquirer pattern" value=${t.acquirer} onInput=${c=>n({...t,acquirer:c})} placeholder="host-3" />
        <${Ze} value=${t} set=${n} without="Empty: until it is ended." />
        <${Ke} value=${t} set=${n} />
        <${sr} id="cordon-groups" />
      </div>
    </fieldset>
    <p class="row end"><${W} role="ROLE_OPERATOR" type="submit" kind="primary" why=${p}>Preview the cordon …<//></p>
    ${o&&s`<${me}
      title="Cordon"
      verb="Cordon"
      role="ROLE_OPERATOR"
      preview=${async c=>D("/v1/preview",{cordon:u()},c)}
      run=${async c=>D("/v1/cordon",{...u(),...c})}
      done=${c=>`Cordon ${c.cordon?.id} is in force.`}
      onDone=${(c,h)=>i(`Cordon ${c.cordon?.id} is in force`,"ROLE_OPERATOR")(c,h)}
      onClose=${()=>a(!1)}
    />`}
  </form>`}function ar(){ne("Move and pause");let[e]=q(),t=e.get("do")??"move";return s`<${Z}>Move and pause<//>
    <${He} />
    <${st} of=${Fs} query="do" label="What to do" />
    ${t==="pause"?s`<${nr} key="pause" />`:t==="resume"?s`<${nr} key="resume" resume />`:t==="cordon"?s`<${Us} />`:t==="move"?s`<${qs} />`:s`<${A} title="There is no such form." />`}`}var ir=e=>e.all?"every semaphore":e.labels?`semaphores with ${e.labels}`:Fe(e.names??[]),lr=e=>e.names?.length===1?e.names[0]:"";function cr({selector:e,onClose:t,onDone:n}){let[o,a]=_({lasts:"",until:"",stop:!1,drain:""}),r=()=>({selector:e,...We(o),...o.stop?{stop:!0,...Re(o.drain)}:{}});return s`<${me}
    title=${`Pause ${ir(e)}`}
    verb="Pause"
    role="ROLE_OPERATOR"
    semaphore=${lr(e)}
    deps=${o}
    preview=${async i=>D("/v1/preview",{pause:r()},i)}
    run=${async(i,l)=>D("/v1/pause",{...r(),expected:l.digest,...i})}
    done=${i=>`${O(i.names?.length??0,"semaphore","semaphores")} paused.`}
    onClose=${t}
    onDone=${n}
  >
    <p>Nobody gets a permit until the pause ends. The queue keeps its places.</p>
    <div class="form">
      <${Ze} value=${o} set=${a} without="Empty: until it is resumed." />
      <${se} label="Stop holders too" checked=${o.stop} onChange=${i=>a({...o,stop:i})} help="Otherwise running work continues to its end." />
      ${o.stop&&s`<${Ke} value=${o} set=${a} />`}
    </div>
  <//>`}function ur({selector:e,onClose:t,onDone:n}){return s`<${me}
    title=${`Resume ${ir(e)}`}
    verb="Resume"
    role="ROLE_OPERATOR"
    semaphore=${lr(e)}
    preview=${async o=>D("/v1/preview",{resume:{selector:e}},o)}
    run=${async(o,a)=>D("/v1/resume",{selector:e,expected:a.digest,...o})}
    done=${o=>o.names?.length?`${O(o.names.length,"semaphore","semaphores")} resumed.`:"Nothing was paused."}
    onClose=${t}
    onDone=${n}
  />`}function pr({name:e}){let[t,n]=q(),o={group:t.get("group")??"",acquirer:t.get("acquirer")??"",weight:t.get("weight")??"",worker:t.get("worker")??""},[a,r]=_(o),l=T(m=>x("/v1/known",{page_size:1e3},m),["known"]).data?.callers??[],u={identity:{group:o.group,acquirer:o.acquirer},...o.weight&&{weight:Number(o.weight)},...o.worker&&{worker:!0}},p=T(o.acquirer?m=>D(oe`/v1/semaphores/${e}:explain`,u,m):null,["explain",e,o],{keep:!0,every:5e3}),c=m=>{m.preventDefault(),n(a),p.refresh()},h=m=>d=>r({...a,[m]:d});return s`<section class="panel">
    <h2>Would this caller get a permit?</h2>
    <form class="form" onSubmit=${c}>
      <${F} label="Group" value=${a.group} onInput=${h("group")} list="known-groups" placeholder="default" help="Where the caller runs: a zone, a site." />
      <${F} label="Acquirer" value=${a.acquirer} onInput=${h("acquirer")} list="known-acquirers" required help="Who asks, normally a host." />
      <${F} label="Weight" type="number" min="1" value=${a.weight} onInput=${h("weight")} placeholder="1" />
      <${se} label="It is a worker" checked=${a.worker==="1"} onChange=${m=>h("worker")(m?"1":"")} help="It asks for a task." />
      <datalist id="known-groups">${[...new Set(l.map(m=>m.group))].map(m=>s`<option value=${m} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(l.map(m=>m.acquirer))].map(m=>s`<option value=${m} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${p.error&&!p.error.offline&&s`<${B} error=${p.error} />`}
    ${o.acquirer&&!p.data&&!p.error&&s`<${ye} what="Asking" />`}
    ${p.data&&s`<${Hs} of=${p.data} />`}
  </section>`}function Hs({of:e}){let t=!e.reason||e.reason==="REASON_UNSPECIFIED";return s`<div class="stack" role="status">
    <p class="lead tone-${t?"run":"deny"}"><strong>${t?"It would get a permit.":`Denied: ${I(e.reason,"REASON_")}.`}</strong> ${e.summary}</p>
    ${e.recovering&&s`<p class="note">Nothing is granted for another ${Math.ceil(M(e.recovering)/1e3)} s: a recovery of the cluster is being waited out.</p>`}
    <ol class="steps">
      ${(e.steps??[]).map(n=>s`<li key=${n.number}>
        <span class="step-mark tone-${n.passed?"run":"deny"}"><span aria-hidden="true">${n.passed?"✓":"✗"}</span><span class="sr-only">${n.passed?"passed":"failed"}</span></span>
        <span class="step-name">${n.number} ${n.name}</span><span>${n.text}</span>
      </li>`)}
    </ol>
    ${e.holders?.length>0&&s`<p>Taken by ${e.holders.slice(0,5).map((n,o)=>s`${o?", ":""}${j(n.identity)} for <${ae} at=${n.granted_at} />`)}${(e.holder_count??0)>5&&` and ${b(e.holder_count-5)} more`}.</p>`}
    ${e.waiter_count>0&&s`<p>${O(e.waiter_count,"caller waits","callers wait")} in the queue.</p>`}
    ${e.why_tasks_wait&&s`<p>${e.why_tasks_wait}</p>`}
  </div>`}var Ws={claimed:"accent",done:"run",spent:"stop",failed:"deny","cut short":"stop",open:"wait",forgotten:"idle"};async function Bs(e,t){let n="",o,a=[];do o=await x("/v1/firings",{semaphore:e,page_size:1e3,page_token:n},t),a.push(...o.firings??[]),n=o.next_page_token??"";while(n&&a.length<2e4);return{...o,firings:a.reverse()}}function dr({name:e,events:t}){let n=T(u=>Bs(e,u),["firings",e,t],{keep:!0}),[o,a]=_(null),[r,i]=_(100),l=o&&{semaphore:e,firings:[o.firing],...pe()};return s`<section class="panel">
    <h2>Firings</h2>
    <${K} of=${n} what="Reading the firings">
      ${u=>s`
        <p class="faint">${b(u.count)} remembered, at most ${b(u.limit)}.${u.forgotten_up_to&&` Those due until ${P(u.forgotten_up_to)} that are not listed count as forgotten.`}</p>
        <${V}
          caption="Firings"
          rows=${u.firings.slice(0,r)}
          rowKey=${p=>qe(p.firing)}
          empty=${s`<${A} title="No firing is remembered.">A caller that names its firing, as gkctl run --firing does, is remembered here.<//>`}
          columns=${[["Firing",p=>qe(p.firing),"name"],["State",p=>s`<span class="tag tone-${Ws[I(p.state,"FIRING_STATE_")]??"idle"}">${I(p.state,"FIRING_STATE_")}</span>`],["Who",p=>p.winner?j(p.winner):"–","name"],["Claimed at",p=>P(p.claimed_at)||"–","num"],["Attempts",p=>b(p.attempts),"num"],["Failure",p=>p.failure||"–"],["",p=>s`<${W} role="ROLE_OPERATOR" semaphore=${e} onClick=${()=>a(p)}>Forget …<//>`,"end"]]}
        />
        ${u.firings.length>r&&s`<button type="button" onClick=${()=>i(r*5)}>Show more</button>`}`}
    <//>
    ${o&&s`<${me}
      title=${`Forget ${qe(o.firing)}`}
      verb="Forget it"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${e}
      preview=${u=>D("/v1/firings:forget",{...l,dry_run:!0},u)}
      run=${(u,p)=>D("/v1/firings:forget",{...l,plan:p.plan,...u})}
      done=${()=>`${qe(o.firing)} is forgotten.`}
      onDone=${n.refresh}
      onClose=${()=>a(null)}
    ><p>A forgotten firing can run again, even if its job has run.</p><//>`}
  </section>`}function mr({name:e,events:t,onChange:n}){let[o,a]=q(),r=o.get("permits")==="1",[i,l]=_(50),u=T(p=>x("/v1/history",{names:[e],permits:r,page_size:i},p),["history",e,r,i,t],{keep:!0});return s`<section class="panel">
    <div class="title"><h2>History</h2>
      <${se} label="Also how permits ended" checked=${r} onChange=${p=>a({permits:p?"1":""})} />
    </div>
    <${K} of=${u} what="Reading the journal">
      ${p=>s`
        ${p.entries?.length?s`<${_t} entries=${p.entries} semaphore=${e} onChange=${n} />`:s`<${A} title="The journal has nothing of it." />`}
        ${p.next_page_token&&i<1e3&&s`<p class="row"><button type="button" onClick=${()=>l(Math.min(1e3,i*4))}>Show more</button></p>`}`}
    <//>
  </section>`}var An=[["1h",36e5],["6h",6*36e5],["24h",24*36e5],["7d",168*36e5]],In=4,fr=12,Ks={released:"run",expired:"stop",abandoned:"idle",cancelled:"idle",cleared:"stop","freed unsafely":"deny",superseded:"idle"};function hr({name:e,permits:t,events:n}){let[o,a]=q(),r=An.find(([u])=>u===o.get("span"))??An[0];Ae();let i=Date.now()-r[1],l=T(u=>x("/v1/history",{names:[e],permits:!0,since:new Date(Date.now()-r[1]).toISOString(),page_size:1e3},u),["timeline",e,r[0],n],{keep:!0});return s`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Span of time">
        ${An.map(([u])=>s`<button type="button" key=${u} aria-pressed=${u===r[0]} onClick=${()=>a({span:u==="1h"?"":u})}>${u}</button>`)}
      </div>
    </div>
    <${K} of=${l} what="Reading the journal">
      ${u=>s`<${zs} entries=${u.entries??[]} permits=${t} from=${i} to=${Date.now()} more=${u.next_page_token} />`}
    <//>
  </section>`}function zs({entries:e,permits:t,from:n,to:o,more:a}){let r=[...t.map(c=>({who:j(c.identity),from:Date.parse(c.granted_at),to:o,how:"holds it now",tone:c.stop?"stop":"accent",token:c.token})),...e.filter(c=>c.permit&&c.kind!=="EVENT_KIND_GRANTED"&&c.permit.granted_at).map(c=>{let h=I(c.permit.ended,"PERMIT_END_")||I(c.kind,"EVENT_KIND_");return{who:j(c.permit.identity),from:Date.parse(c.permit.granted_at),to:Date.parse(c.permit.ended_at??c.at),how:h,tone:Ks[h]??"idle",token:c.permit.token}})],i=new Set,l=new Map;for(let c of r)i.has(c.token)||c.to<n||(i.add(c.token),l.set(c.who,[...l.get(c.who)??[],c]));if(l.size===0)return s`<${A} title="Nobody held it in this time." />`;let u=c=>1e3*(Math.max(c,n)-n)/(o-n),p=e.filter(c=>!c.permit&&Date.parse(c.at)>=n);return s`<div class="timeline">
    ${[...l].slice(0,fr).map(([c,h])=>{let m=h[0],d=`${c}: ${O(h.length,"permit","permits")}, the last from ${P(m.from)}, ${m.how}`;return s`<div class="lane" key=${c}>
        <span class="lane-name">${c}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${d}>
          <rect class="track" width="1000" height="18" />
          ${h.map(f=>s`<rect key=${f.token} class="fill-${f.tone}" x=${u(f.from)} y="2" height="14" width=${Math.max(1.5,u(f.to)-u(f.from))}>
            <title>${`${f.who}: ${P(f.from)}, ${f.how} after ${X(f.to-f.from)}, token ${f.token}`}</title>
          </rect>`)}
          ${p.map(f=>s`<line key=${f.revision} class="mark" x1=${u(Date.parse(f.at))} x2=${u(Date.parse(f.at))} y1="0" y2="18"><title>${`${I(f.kind,"EVENT_KIND_")} by ${f.author??"–"} at ${P(f.at)}`}</title></line>`)}
        </svg>
      </div>`})}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({length:In+1},(c,h)=>s`<span key=${h}>${h===In?"now":rt(n+(o-n)*h/In).slice(0,-3)}</span>`)}</span>
    </div>
    ${(l.size>fr||a)&&s`<p class="faint">Not everything fits here. <a href="?tab=history&permits=1">The history has all of it.</a></p>`}
  </div>`}function Vs({permit:e,onClose:t,onDone:n}){let[o,a]=_({reason:"",drain:"",unsafe:!1}),[r,i]=_(null),[l,u]=_(!1);return s`<${le} title="Revoke a permit" onClose=${t}>
    <form onSubmit=${async c=>{if(c.preventDefault(),!l){u(!0);try{let h={reason:o.reason,...pe()};o.drain.trim()&&(h.drain=Te(o.drain)),o.unsafe&&(h.unsafe_now=!0),await D(oe`/v1/permits/${e.token}:revoke`,h),he(`The permit of ${j(e.identity)} is revoked.`),n(),t()}catch(h){i(h),u(!1)}}}}>
      <p>${j(e.identity)} must stop. Its refreshes are refused from now on, and its slot is free when it releases, or at its deadline.</p>
      <${F} label="Reason" value=${o.reason} onInput=${c=>a({...o,reason:c})} maxlength="1024" />
      <${F} label="Drain" placeholder="2m" value=${o.drain} onInput=${c=>a({...o,drain:c})} error=${Be(()=>Te(o.drain))} help="How long it may continue. Empty: not at all." />
      <${se} label="Free the slot at once" checked=${o.unsafe} onChange=${c=>a({...o,unsafe:c})}
        help="Unsafe: the holder may still run, and then two run at the same time. Only a fencing token protects what they write." />
      <${B} error=${r} />
      <p class="row end">
        <button type="button" onClick=${t}>Cancel</button>
        <button class=${o.unsafe?"danger":"primary"}>${l?"Working …":o.unsafe?"Revoke and free the slot":"Revoke"}</button>
      </p>
    </form>
  <//>`}function Js({permit:e,onClose:t,onDone:n}){let[o,a]=_(""),[r,i]=_(null);return s`<${le} title="Clear a slot" onClose=${t}>
    <form onSubmit=${u=>{u.preventDefault(),D(oe`/v1/permits/${e.token}:clear`,{reason:o,...pe()}).then(()=>{he("The slot is free."),n(),t()},i)}}>
      <p>The permit of ${j(e.identity)} expired, and its slot is held. Clear it when you know that its job does not run any more.</p>
      <${F} label="Reason" value=${o} onInput=${a} maxlength="1024" />
      <${B} error=${r} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Clear the slot</button></p>
    </form>
  <//>`}var Gs=e=>Object.entries(e??{}).map(([t,n])=>`${t}=${n}`).join(", ");function Qs({permits:e,onChange:t}){let[n,o]=_(null),a=()=>o(null);return s`<section class="panel">
    <h2>Holders</h2>
    <${V}
      caption="Holders"
      rows=${e}
      rowKey=${r=>r.token}
      empty=${s`<${A} title="Nobody holds a permit." />`}
      columns=${[["Holder",r=>s`${j(r.identity)}${r.identity?.holder_id&&s`<div class="sub">${r.identity.holder_id}</div>`}`,"name"],["State",r=>s`<span class="tone-${Do(r)}">${Ro(r)}</span>`],["Since",r=>s`<${ae} at=${r.granted_at} />`,"num"],["Time left",r=>s`<${qt} at=${r.deadline} of=${M(r.duration)} />`,"num"],["Weight",r=>b(r.weight),"num"],["Token",r=>r.token,"num"],["For",r=>[qe(r.firing),Gs(r.metadata)].filter(Boolean).join("; ")||"–"],["",r=>r.state==="PERMIT_STATE_HELD"?s`<${W} role="ROLE_OPERATOR" semaphore=${r.semaphore} onClick=${()=>o({clear:r})}>Clear …<//>`:r.state==="PERMIT_STATE_COOLING"?null:s`<${W} role="ROLE_OPERATOR" semaphore=${r.semaphore} group=${r.identity?.group} acquirer=${r.identity?.acquirer} onClick=${()=>o({revoke:r})}>Revoke …<//>`,"end"]]}
    />
    ${n?.revoke&&s`<${Vs} permit=${n.revoke} onClose=${a} onDone=${t} />`}
    ${n?.clear&&s`<${Js} permit=${n.clear} onClose=${a} onDone=${t} />`}
  </section>`}function Ys({data:e}){let t=n=>new Date(e.at-M(n.waiting)).toISOString();return s`<section class="panel">
    <h2>Queue</h2>
    <${V}
      caption="Waiters"
      rows=${e.waiters}
      rowKey=${n=>`${n.request_id}/${n.place}`}
      empty=${s`<${A} title="Nobody waits." />`}
      columns=${[["Place",n=>n.place||"idle worker","num"],["Waiter",n=>j(n.identity),"name"],["Weight",n=>b(n.weight),"num"],["Waiting for",n=>s`<${ae} at=${t(n)} />`,"num"]]}
      note=${e.next_page_token&&"More wait than are shown here."}
    />
    ${(e.tasks??[]).map(n=>s`<p key=${n.job}><a href=${`/jobs/${encodeURIComponent(n.job)}`}>${n.job}</a>: ${b(n.tasks)} tasks wait for a worker.</p>`)}
  </section>`}var Xs=e=>`?${new URLSearchParams({tab:"explain",group:e.identity?.group??"",acquirer:e.identity?.acquirer??""})}`;function Zs({rows:e,caption:t}){return s`<${V}
    caption=${t}
    rows=${e}
    rowKey=${n=>`${n.semaphore} ${j(n.identity)}`}
    columns=${[["Caller",n=>j(n.identity),"name"],["Why",n=>s`${n.message}<div class="sub">${I(n.reason,"REASON_")}${n.let_in&&`; ${j(n.let_in)} was let in, so it may be a standby`}${n.cured&&"; would not be denied now"}</div>`],["Times",n=>b(n.count),"num"],["Last",n=>s`<span title=${P(n.last)}><${ae} at=${n.last} /> ago</span>`,"num"],["",n=>s`<a href=${n.semaphore?Xs(n):void 0}>Explain</a>`,"end"]]}
  />`}function ea({name:e,events:t}){let n=T(o=>x("/v1/denied",{names:[e],cured:!0},o),["denied",e,t],{every:1e4,keep:!0});return s`<section class="panel">
    <h2>Denied</h2>
    <${K} of=${n} what="Reading who was denied">
      ${o=>s`
        ${o.callers?.length?s`<${Zs} rows=${o.callers} caption="Callers that were denied" />`:s`<${A} title="Nobody is denied.">Callers show here when waiting does not help them${o.since?`; remembered since ${P(o.since)}`:""}.<//>`}
        ${o.misspelled?.length>0&&s`<h3>They may mean this semaphore</h3>
          <ul>${o.misspelled.map(a=>s`<li>${j(a.identity)} asks for <code>${a.semaphore}</code>, which does not exist.</li>`)}</ul>`}`}
    <//>
  </section>`}function $r({name:e,of:t}){return s`<div class="stack">
    <${K} of=${t.holders} what="Reading who holds it">${n=>s`<${Qs} permits=${n} onChange=${t.read} />`}<//>
    <${hr} name=${e} permits=${t.holders.data??[]} events=${t.events} />
    <div class="panels">
      <${K} of=${t.waiters} what="Reading the queue">${n=>s`<${Ys} data=${n} />`}<//>
      <${ea} name=${e} events=${t.events} />
    </div>
  </div>`}function Kt(e={}){let t={};for(let n of de){let o=e[n.name];switch(n.kind){case"labels":t[n.name]=Object.keys(o??{}).sort().map(a=>o[a]===""?a:`${a}=${o[a]}`).join(`
`);break;case"duration":t[n.name]=Ye(o);break;case"flag":t[n.name]=o?"yes":"no";break;case"choice":t[n.name]=je(n,e);break;default:t[n.name]=String(o??(n.kind==="number"&&n.name==="max_attempts"?0:""))}}return t}function _r(e,t={}){let n={...t},o={};for(let a of de){let r=e[a.name]??"";try{let i=ta(a,r);i===void 0?delete n[a.name]:n[a.name]=i}catch(i){o[a.name]=i.message}}return{definition:n,errors:o}}function ta(e,t){switch(e.kind){case"labels":{let n={};for(let o of t.split(`
`).map(a=>a.trim()).filter(Boolean)){let a=o.indexOf("="),r=(a<0?o:o.slice(0,a)).trim();if(!r)throw new Error(`“${o}” has no key. Write key=value.`);if(Object.hasOwn(n,r))throw new Error(`The key ${r} stands here twice.`);Object.defineProperty(n,r,{value:a<0?"":o.slice(a+1).trim(),enumerable:!0})}return n}case"duration":return Te(t);case"number":{if(t.trim()==="")return;if(!/^\d+$/.test(t.trim()))throw new Error(`“${t}” is not a whole number.`);return Number(t)}case"flag":return t==="yes";case"choice":return e.prefix+t.toUpperCase();case"pattern":if(t==="")throw new Error("An empty pattern would let nobody in. .* lets everybody in.");return t}return t}function gr(e,t,n){let o={},a=[],r=[];for(let i of de){let[l,u,p]=[e[i.name],t[i.name],n[i.name]];o[i.name]=u===l?p:u,u!==l&&p!==l&&u!==p&&(a.push(i.name),o[i.name]=p),(u!==l||p!==l)&&r.push({field:i,base:l,mine:u,theirs:p})}return{merged:o,conflicts:a,rows:r}}function vr({of:e,base:t,onMerged:n,onCancel:o}){let{theirs:a,conflicts:r,rows:i}=e,[l,u]=_({}),p=r.filter(m=>!l[m]),c=()=>{let m={...e.merged};for(let d of i)l[d.field.name]&&(m[d.field.name]=d[l[d.field.name]]);n(m)},h=m=>{let d=m.field.name;if(!r.includes(d))return m.mine===m.theirs?s`<${Ht}>the same<//>`:m.mine!==m.base?s`<${Ht} tone="accent">yours<//>`:s`<${Ht} tone="wait">theirs<//>`;let f=(g,$)=>s`<label class="radio">
      <input type="radio" name=${`keep-${d}`} checked=${l[d]===g} onChange=${()=>u({...l,[d]:g})} /> ${$}
    </label>`;return s`<fieldset class="radios"><legend class="sr-only">Which ${m.field.label} to keep</legend>${f("mine","yours")}${f("theirs","theirs")}</fieldset>`};return s`<section class="panel conflict" aria-label="Conflict">
    <h2>Somebody else was faster</h2>
    <p role="alert">${a.updated_by||"Somebody"} saved version ${a.version} at ${P(a.updated_at)}${a.reason&&` (${a.reason})`}. You began
      with version ${t?.version??"–"}. Nothing of yours is saved yet, and nothing is lost.</p>
    <${V}
      caption="Fields that differ"
      rows=${i}
      rowKey=${m=>m.field.name}
      columns=${[["Field",m=>m.field.label],["When you began",m=>s`<code>${m.base||"(none)"}</code>`],["Yours",m=>m.mine===m.base?s`<span class="faint">unchanged</span>`:s`<ins>${m.mine||"(none)"}</ins>`],["Theirs",m=>m.theirs===m.base?s`<span class="faint">unchanged</span>`:s`<ins class="theirs">${m.theirs||"(none)"}</ins>`],["Keep",h]]}
    />
    <p class="row end">
      <span class="grow" role="status">${p.length?`Choose for ${p.length===1?"1 field":`${p.length} fields`} that you both changed.`:"Everything is decided."}</span>
      <button type="button" onClick=${o}>Back to the form</button>
      <button type="button" class="primary" aria-disabled=${p.length?"true":void 0} onClick=${()=>p.length||c()}>Review the result …</button>
    </p>
  </section>`}var Nn=60;function br({name:e,group:t,acquirer:n}){let[o,a]=_({group:t,acquirer:n});E(()=>{let d=setTimeout(()=>a({group:t,acquirer:n}),250);return()=>clearTimeout(d)},[t,n]);let r=T(d=>ke("/v1/known",{},"callers",d,1e3),["known"]),i=T(o.group&&o.acquirer?async d=>{let f={name:`${e.slice(0,60)}~pattern-test`,group_pattern:o.group,acquirer_pattern:o.acquirer};return(await D("/v1/preview",{edits:{edits:[{create:f}]}},d)).effects?.[0]??{}}:null,["patterns",o],{keep:!0}),l=r.data?.items??[],u=i.data?.eligible??i.data?.total_admitted??0,p=new Set((i.data?.admitted??[]).map(d=>`${d.acquirer} in ${d.group}`)),c=i.error&&!i.error.offline?i.error.fields?.[0]?.rule??i.error.message:"",h=p.size>=u,m=[...l].sort((d,f)=>p.has(`${f.acquirer} in ${f.group}`)-p.has(`${d.acquirer} in ${d.group}`));return s`<div class="pattern-test full" aria-live="polite">
    ${c?s`<p class="error">${c}</p>`:l.length===0?s`<p class="faint">Nobody was seen asking yet, so the patterns cannot be tried on anybody.</p>`:s`<p><strong class=${u?"tone-run":"tone-deny"}>These patterns let in ${u?b(u):"none"} of ${O(l.length,"known caller","known callers")}${r.data?.more?" and more":""}.</strong></p>
            <ul class="chips">${m.slice(0,Nn).map(d=>{let f=`${d.acquirer} in ${d.group}`,g=p.has(f);return!g&&!h?null:s`<li key=${f} class=${g?"in":"out"}><span aria-hidden="true">${g?"✓":"✗"}</span><span class="sr-only">${g?"let in: ":"not let in: "}</span>${f}</li>`})}${l.length>Nn&&s`<li class="out">and ${b(l.length-Nn)} more</li>`}</ul>`}
  </div>`}var yr={group_pattern:".*",acquirer_pattern:".*",permits:1,duration:"60s"};function wr({name:e,record:t,onSaved:n}){let[o,a]=q();if(o.get("edit")==="1"||!t)return s`<${na} name=${e} record=${t} onSaved=${n} onDone=${()=>a({edit:""})} />`;let i=t.definition;return s`<section class="panel">
    <div class="title"><h2>Rule</h2>
      <${W} role="ROLE_EDITOR" semaphore=${e} kind="primary" onClick=${()=>a({edit:"1"},{replace:!1})}>Edit<//>
    </div>
    <${Ce} of=${de.map(l=>[l.label,je(l,i)&&(l.kind==="pattern"?s`<code>${je(l,i)}</code>`:je(l,i))])} />
    <p class="faint">Version ${t.version}, ${P(t.updated_at)}${t.updated_by&&`, by ${t.updated_by}`}${t.reason&&`: ${t.reason}`}</p>
  </section>`}var zt=["firing_on_loss","firing_retention","firing_limit","firing_max_ahead","max_attempts","misfire","misfire_window"];function na({name:e,record:t,onSaved:n,onDone:o}){let[a,r]=_(t),[i,l]=_(()=>Kt(t?.definition??yr)),[u,p]=_({}),[c,h]=_(!1),[m,d]=_(null),[f,g]=_({}),$=fe(()=>Kt(a?.definition??yr),[a]),{definition:C,errors:y}=_r(i,a?.definition??{name:e}),L=!a||de.some(v=>i[v.name]!==$[v.name]),N=Object.keys(y).length>0,k=t&&a&&t.version!==a.version?t:null;E(()=>{if(!L||!a)return;let v=H=>H.preventDefault();return addEventListener("beforeunload",v),()=>removeEventListener("beforeunload",v)},[L]);let Y=v=>H=>{l(S=>({...S,[v]:H})),g(S=>({...S,[v]:void 0}))},re=a?{replace:C,expected_version:a.version}:{create:{...C,name:e}},J=()=>({edits:[re],...Re(u.drain),...a?We(u):{}}),ie=v=>d({theirs:v,...gr($,i,Kt(v.definition))}),w=v=>{if(v.reason==="STALE_VERSION")return x(oe`/v1/definitions/${e}`).then(S=>ie(S.record),S=>he(S.message,{tone:"deny"})),!0;let H=v.fields?.filter(S=>de.some(ce=>S.field.endsWith(ce.name)))??[];return H.length===0?!1:(g(Object.fromEntries(H.map(S=>[de.find(ce=>S.field.endsWith(ce.name)).name,S.rule]))),!0)},R=v=>{let H=y[v.name]??f[v.name],S=i[v.name],ce={key:v.name,label:v.label,help:v.help,error:H,class:S!==$[v.name]?"changed":""};if(v.kind==="flag")return s`<${se} ...${ce} checked=${S==="yes"} onChange=${_e=>Y(v.name)(_e?"yes":"no")} />`;if(v.kind==="choice")return s`<${Ee} ...${ce} value=${S} onChange=${Y(v.name)} options=${v.values.map(_e=>[_e.toLowerCase(),_e.toLowerCase()])} />`;let tt=v.kind==="labels"?3:v.name==="description"?2:void 0;return s`<${F} ...${ce} value=${S} onInput=${Y(v.name)} area=${tt} name=${v.name} inputmode=${v.kind==="number"?"numeric":void 0} />`},U=v=>{v.preventDefault(),!N&&L&&h(!0)};return m?s`<${vr}
      of=${m}
      base=${a}
      onCancel=${()=>d(null)}
      onMerged=${v=>{r(m.theirs),l(v),d(null),h(!0)}}
    />`:s`<section class="panel">
    <div class="title"><h2>${a?"Edit the rule":"Create this semaphore"}</h2></div>
    ${k&&s`<p class="note" role="alert">${k.updated_by||"Somebody"} saved another version at ${P(k.updated_at)}, while you edit.
      <button type="button" onClick=${()=>ie(k)}>Compare and merge</button></p>`}
    <form onSubmit=${U}>
      <div class="form">
        ${de.filter(v=>!zt.includes(v.name)&&v.kind!=="pattern"&&["description","labels"].includes(v.name)).map(R)}
        ${de.filter(v=>v.kind==="pattern").map(R)}
        <${br} name=${e} group=${i.group_pattern} acquirer=${i.acquirer_pattern} />
        ${de.filter(v=>!zt.includes(v.name)&&v.kind!=="pattern"&&!["description","labels"].includes(v.name)).map(R)}
      </div>
      <details open=${zt.some(v=>i[v]!==$[v]||y[v])}>
        <summary>Firings</summary>
        <div class="form">${de.filter(v=>zt.includes(v.name)).map(R)}</div>
      </details>
      <p class="row end sticky-end">
        ${L&&s`<span class="grow faint">Nothing is saved yet.</span>`}
        ${a&&s`<button type="button" onClick=${o}>${L?"Discard":"Back"}</button>`}
        <${W} role="ROLE_EDITOR" semaphore=${e} type="submit" kind="primary" why=${N?"A field has a mistake.":L?"":"Nothing was changed."}>Review and save …<//>
      </p>
    </form>
    ${c&&s`<${me}
      title=${a?`Save ${e}`:`Create ${e}`}
      verb=${a?"Save":"Create"}
      role="ROLE_EDITOR"
      semaphore=${e}
      deps=${u}
      preview=${async v=>D("/v1/preview",{edits:J()},v)}
      run=${async v=>D("/v1/definitions:edit",{...J(),...v})}
      done=${v=>`${e} is ${a?"saved":"created"}, as change ${v.revision}.`}
      onError=${w}
      onClose=${()=>h(!1)}
      onDone=${()=>{n(),o()}}
    >
      ${a&&s`<details><summary>Only for a time, or with a drain</summary>
        <div class="form"><${Ze} value=${u} set=${p} without="Then the old values come back. Empty: for good." /><${Ke} value=${u} set=${p} /></div>
      </details>`}
    <//>`}
  </section>`}function kr({name:e,events:t}){let n=T(a=>x("/v1/jobs",{semaphore:e,page_size:200},a),["jobs",e,t],{every:5e3,keep:!0}),o=T(a=>x("/v1/workers",{semaphore:e},a),["workers",e,t],{every:5e3,keep:!0});return s`<div class="stack">
    <section class="panel"><h2>Jobs</h2>
      <${K} of=${n} what="Reading the jobs">
        ${a=>a.jobs?.length?s`<${xn} jobs=${a.jobs} />`:s`<${A} title="It has no jobs.">Submit one with gkctl job submit.<//>`}
      <//>
    </section>
    <section class="panel"><h2>Workers</h2>
      <${K} of=${o} what="Reading the workers">${a=>s`<${Tn} data=${a} />`}<//>
    </section>
  </div>`}var oa=[["now","Now"],["rule","Rule"],["history","History"],["firings","Firings"],["tasks","Tasks"],["explain","Explain"]],ra=(e,t)=>e.map(n=>({...n,deadline:n.expires_in?t+M(n.expires_in):0}));function sa(e){let t=T(p=>x(oe`/v1/definitions/${e}`,{},p),["record",e],{every:15e3}),n=T(async p=>{let c=Date.now();return ra((await ke("/v1/holders",{names:[e]},"permits",p)).items,c)},["holders",e],{every:15e3}),o=T(async p=>({at:Date.now(),...await x("/v1/waiters",{names:[e],page_size:200},p)}),["waiters",e],{every:5e3}),[a,r]=_(null),[i,l]=_(0),u=Ie(()=>{t.refresh(),n.refresh(),o.refresh(),l(p=>p+1)},40);return Se("/v1/watch",{names:[e],permits:!0,live_every:"1s"},{open:p=>p&&u(),missed:u,message:({events:p=[]})=>p.length&&u(),live(p){let c=((p.live??p).semaphores??[]).find(d=>d.semaphore===e),h=Date.now(),m=new Map((c?.deadlines??[]).map(d=>[d.token,h+M(d.expires_in)]));n.set(d=>d?.map(f=>m.has(f.token)?{...f,deadline:m.get(f.token)}:f)),a&&(c?.waiters??0)!==a.waiters&&o.refresh(),r({waiters:c?.waiters??0})}}),{record:t,holders:n,waiters:o,live:a,events:i,read:u}}function aa({record:e,onChange:t}){let[n,o]=_(""),a=e.definition.name,r=()=>o("");return s`
    ${e.pause?s`<${W} role="ROLE_OPERATOR" semaphore=${a} onClick=${()=>o("resume")}>Resume …<//>`:s`<${W} role="ROLE_OPERATOR" semaphore=${a} onClick=${()=>o("pause")}>Pause …<//>`}
    <a class="button" href=${`/move?names=${encodeURIComponent(a)}`}>Move …</a>
    <${W} role="ROLE_EDITOR" semaphore=${a} kind="danger" onClick=${()=>o("delete")}>Delete …<//>
    ${n==="pause"&&s`<${cr} selector=${{names:[a]}} onClose=${r} onDone=${t} />`}
    ${n==="resume"&&s`<${ur} selector=${{names:[a]}} onClose=${r} onDone=${t} />`}
    ${n==="delete"&&s`<${me}
      title=${`Delete ${a}`}
      verb="Delete it"
      kind="danger"
      role="ROLE_EDITOR"
      semaphore=${a}
      preview=${i=>D("/v1/preview",{edits:{edits:[{delete:a,expected_version:e.version}]}},i)}
      run=${i=>D("/v1/definitions:edit",{edits:[{delete:a,expected_version:e.version}],...i})}
      done=${()=>`${a} is deleted.`}
      onDone=${()=>ge("/")}
      onClose=${r}
    />`}`}function ia({record:e,holders:t,live:n}){let o=Number(e.used??0),a=e.definition.permits??0;return s`<dl class="figures">
    <div><dt>In use</dt><dd class="num">${b(o)}<span class="faint"> / ${b(a)}</span></dd>
      <dd><${$e} share=${a?o/a:o?1:0} label="${o} of ${a} permits in use" /></dd></div>
    <div><dt>Holders</dt><dd class="num">${b(t?.length??e.holders)}</dd></div>
    <div><dt>Queue</dt><dd class="num">${b(n?.waiters??e.waiters)}</dd></div>
  </dl>`}function Er({name:e}){ne(e);let t=sa(e),[n]=q(),o=n.get("tab")??"now",a=t.record.data?.record,r=t.record.error?.code==="NOT_FOUND",i=r&&!a;return s`
    <${Z} aside=${a&&s`<${aa} record=${a} onChange=${t.read} />`}>${e}<//>
    <${He} />
    ${r&&s`<p class="note">There is no definition of this name${a?" any more":""}. Its history and firings may still be known.</p>`}
    ${a&&!r&&s`<div class="standing">
      <p class="row">${$t(a).map(l=>s`<${gt} key=${l.value} value=${l.value} />`)}</p>
      ${jt(a).map(l=>s`<p class="note">${l}</p>`)}
      <${ia} record=${a} holders=${t.holders.data} live=${t.live} />
    </div>`}
    ${t.record.error&&!r&&!t.record.error.offline&&s`<${B} error=${t.record.error} retry=${t.record.refresh} />`}
    <${st} of=${oa} label="Parts of this semaphore" />
    ${!a&&!r?!t.record.error&&s`<${ye} what="Reading the semaphore" />`:o==="rule"?s`<${wr} key=${e} name=${e} record=${r?null:a} onSaved=${t.read} />`:o==="history"?s`<${mr} name=${e} events=${t.events} onChange=${t.read} />`:o==="firings"?s`<${dr} name=${e} events=${t.events} />`:o==="explain"?s`<${pr} name=${e} />`:i?s`<${A} title="Nothing to show.">Create it under <a href="?tab=rule">Rule</a>, or look at its <a href="?tab=history">history</a>.<//>`:o==="tasks"?s`<${kr} name=${e} events=${t.events} />`:s`<${$r} name=${e} of=${t} />`}`}var la=[[/^\/$/,er],[/^\/s\/(.+)$/,Er],[/^\/move$/,ar],[/^\/activity$/,Uo],[/^\/jobs$/,Vo],[/^\/jobs\/(.+)$/,Go],[/^\/cluster$/,Ko],[/^\/access$/,qo]];function ca(){return ne("No such page"),s`<${Z}>No such page<//><${A} title="There is nothing at this address."><a href="/">Go to the overview</a><//>`}function ua(){let e=G(Ge).split("?")[0],t=G(Le);if(E(()=>{e!=="/login"&&!xe.get()&&ln().catch(()=>{})},[e==="/login",t]),e==="/login")return s`<${vn} bare><${Qo} /><//>`;let[n,o]=uo(e,la)??[ca,[]];return s`<${vn}><${n} key=${e} name=${o[0]} /><//>`}Vn(s`<${ua} />`,document.getElementById("app"));
//# sourceMappingURL=app.js.map
